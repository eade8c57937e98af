/** `npm run receiver`: a receiver to try webhooks with. It verifies every request and prints it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createVerifier } from './verify-webhook.ts'

/** Of the service whose variables `npm start` printed, if they were pasted. */
const [, service = 'http://127.0.0.1:3000'] = /^(.+)\/organizations\/[^/]+$/.exec(process.env.API ?? '') ?? []

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4000' },
    issuer: { type: 'string', default: `${service}/` },
    organization: { type: 'string' },
    'fail-first': { type: 'string', default: '0' },
    status: { type: 'string', default: '200' },
    slow: { type: 'string', default: '0s' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help || values.organization === undefined) {
  console.log(`usage: npm run receiver -- --organization <id> [--port 4000] [--issuer ${service}/]
                             [--fail-first <n>] [--status <code>] [--slow <seconds>s]`)
  process.exit(values.help ? 0 : 2)
}

const verifier = createVerifier({ issuer: values.issuer, organizationId: values.organization })
const slowness = Number.parseFloat(values.slow) * 1000
let toFail = Number(values['fail-first'])

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const verdict = await verifier.verify(String(request.headers['security-signature'] ?? ''), body).then(
    () => 'verified',
    (error: unknown) => `DISCARDED: ${Error.isError(error) ? error.message : String(error)}`,
  )
  const status = toFail > 0 ? 500 : Number(values.status)
  if (toFail > 0) toFail -= 1
  console.log(
    `\n${new Date().toISOString()} ${request.method} ${request.url} ${verdict}, responding with ${status}`,
  )
  console.log(pretty(body.toString('utf8')))
  if (slowness > 0) await sleep(slowness)
  response.writeHead(status).end()
})
server.listen(Number(values.port), '127.0.0.1', () => {
  console.log(
    `receiving on http://127.0.0.1:${(server.address() as AddressInfo).port}/ for ${values.organization}`,
  )
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    server.close()
    server.closeAllConnections()
  })
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
