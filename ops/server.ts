import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'

export interface OpsServer {
  readonly port: number
  stop(): Promise<void>
}

export interface OpsOptions {
  readonly host: string
  readonly port: number
  readonly metrics: Metrics
  readonly readiness: Readiness
}

/** @throws Error with code EADDRINUSE if the port is in use. */
export async function startOpsServer({ host, port, metrics, readiness }: OpsOptions): Promise<OpsServer> {
  const server = createServer((request, response) => {
    respond(request.url ?? '')
      .catch((error: unknown) => ({ status: 500, type: 'text/plain', body: String(error) }))
      .then(({ status, type, body }) => response.writeHead(status, { 'Content-Type': type }).end(body))
  })
  const respond = async (url: string) => {
    switch (url) {
      case '/healthz':
        return { status: 200, type: 'text/plain', body: 'ok\n' }
      case '/readyz': {
        const report = await readiness.report()
        const status = report.status === 'not ready' ? 503 : 200
        return { status, type: 'application/json', body: `${JSON.stringify(report)}\n` }
      }
      case '/metrics':
        return { status: 200, type: metrics.registry.contentType, body: await metrics.registry.metrics() }
      default:
        return { status: 404, type: 'text/plain', body: 'try /healthz, /readyz or /metrics\n' }
    }
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
