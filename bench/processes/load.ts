/** Uses sockets: a full HTTP client costs more than the measured servers and would blur the ratio. */
import { connect, type Socket } from 'node:net'
import { serveCalls } from '../helper.ts'
import { percentile } from '../statistics.ts'

export interface LoadJob {
  readonly port: number
  readonly clients: number
  /** Milliseconds; requests in progress then are finished and counted. */
  readonly duration: number
  /** Whole requests as sent over the wire; each client takes the next one of the cycle. */
  readonly requests: readonly string[]
  readonly status: number
}

export interface LoadResult {
  readonly requests: number
  readonly rate: number
  /** Milliseconds. */
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export type LoadCalls = { run(job: LoadJob): Promise<LoadResult> }

serveCalls({
  async run({ port, clients, duration, requests, status }: LoadJob): Promise<LoadResult> {
    const wires = requests.map((request) => Buffer.from(request))
    const latencies: number[] = []
    let ordinal = 0
    const sockets = await Promise.all(Array.from({ length: clients }, () => connected(port)))
    const started = performance.now()
    const until = started + duration
    const client = async (socket: Socket): Promise<void> => {
      const exchange = exchanges(socket, status)
      while (performance.now() < until) {
        const sent = performance.now()
        await exchange(wires[ordinal++ % wires.length] ?? Buffer.alloc(0))
        latencies.push(performance.now() - sent)
      }
    }
    try {
      await Promise.all(sockets.map(client))
    } finally {
      for (const socket of sockets) socket.destroy()
    }
    const seconds = (performance.now() - started) / 1000
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(latencies, share))
    return {
      requests: latencies.length,
      rate: latencies.length / seconds,
      p50: p50 ?? Number.NaN,
      p95: p95 ?? Number.NaN,
      p99: p99 ?? Number.NaN,
    }
  },
})

async function connected(port: number): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('connect', () => resolve(socket)).once('error', reject)
  })
}

/** The response must have the status and a Content-Length. */
function exchanges(socket: Socket, status: number): (request: Buffer) => Promise<void> {
  let resolve: () => void = () => {}
  let reject: (error: Error) => void = () => {}
  let head = ''
  let missing = 0
  socket.on('error', (error) => reject(error))
  socket.on('close', () => reject(new Error('the server closed a connection')))
  socket.on('data', (chunk: Buffer) => {
    if (missing > 0) {
      missing -= chunk.length
    } else {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head.slice(0, end + 2))?.[1]
      if (head.slice(9, 12) !== String(status) || length === undefined) {
        return reject(new Error(`expected ${status} with a Content-Length, got:\n${head.slice(0, 2000)}`))
      }
      missing = end + 4 + Number(length) - head.length
      head = ''
    }
    if (missing < 0) reject(new Error('more came than was announced'))
    if (missing === 0) resolve()
  })
  return async (request) => {
    await new Promise<void>((done, failed) => {
      resolve = done
      reject = failed
      socket.write(request)
    })
  }
}
