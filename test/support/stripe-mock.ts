/** The provider's own stand-in: it checks every request against Stripe's OpenAPI document. */
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { binaryCache, buildGoProgram } from '../../dev/services/go-program.ts'
import { freePort } from '../../dev/services/ports.ts'
import { waitFor } from './wait-for.ts'

const VERSION = '0.203.0'
const PROGRAM = {
  title: `stripe-mock ${VERSION}`,
  folder: `stripe-mock-${VERSION}`,
  name: 'stripe-mock',
  module: `github.com/stripe/stripe-mock@v${VERSION}`,
}

export async function startStripeMock(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const cache = binaryCache(join(tmpdir(), 'subscription-billing-programs'))
  const program = await buildGoProgram(PROGRAM, 'once per machine', cache, { log: () => {} })
  const port = await freePort()
  const child = spawn(program, ['-http-addr', `127.0.0.1:${port}`], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await waitFor('stripe-mock to listen', async () => {
    if (child.exitCode !== null) throw new Error(`stripe-mock ended with ${child.exitCode}`)
    return await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => null,
    )
  })
  return {
    port,
    async stop() {
      child.kill()
      await ended
    },
  }
}
