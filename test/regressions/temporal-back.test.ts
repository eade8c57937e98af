import { createServer } from 'node:net'
import { expect, test } from '@jest/globals'
import { freePort } from '../../dev/services/ports.ts'
import { lazyClient } from '../../worker/temporal.ts'
import { forward } from '../support/forward.ts'
import { testServices } from '../support/services.ts'
import { waitFor } from '../support/wait-for.ts'

// The client once doubled its wait after each try, so the outbox stood long after Temporal's return.
test('a client whose server is away tries again at a steady pace, and reaches it when it is back', async () => {
  const { temporalAddress, namespace } = testServices()
  const port = await freePort()
  let tries = 0
  const away = createServer((socket) => {
    tries += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => away.listen(port, '127.0.0.1', resolve))
  const client = lazyClient({ address: `127.0.0.1:${port}` }, namespace)
  const responses = (): Promise<boolean> =>
    client.connection
      .withDeadline(Date.now() + 500, () => client.workflowService.getSystemInfo({}))
      .then(
        () => true,
        () => false,
      )
  try {
    // With the default back-off the twelfth comes after more than two minutes.
    await waitFor('twelve tries', async () => ((await responses()) || tries < 12 ? null : true), 45_000)
    await new Promise((resolve) => away.close(resolve))
    const bridge = await forward(port, temporalAddress)
    try {
      expect(await waitFor('an answer', async () => (await responses()) || null)).toBe(true)
    } finally {
      await client.connection.close()
      await bridge.close()
    }
  } finally {
    await client.connection.close()
    away.close()
  }
})
