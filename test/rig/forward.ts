/** A port that leads to another address, for tests in which that address comes, goes, or breaks in the middle. */
import { connect, createServer, type Socket } from 'node:net'
import { closed, opened } from './open-things.ts'

export interface Forward {
  /** Breaks every connection and refuses new ones, once the other side has been sent this many more bytes. */
  breakAfter(bytes: number): void
  /** Lets connections through again. */
  mend(): void
  close(): Promise<void>
}

/** Listens on a port of 127.0.0.1 and forwards every connection to `address`. */
export async function forward(port: number, address: string): Promise<Forward> {
  const [host = '', target = ''] = address.split(':')
  const connections = new Set<Socket>()
  let left = Number.POSITIVE_INFINITY
  const server = createServer((incoming) => {
    const outgoing = connect(Number(target), host)
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      connections.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        connections.delete(one)
        other.destroy()
      })
    }
    outgoing.pipe(incoming)
    incoming.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) for (const connection of connections) connection.destroy()
      else outgoing.write(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const self: Forward = {
    breakAfter(bytes) {
      left = bytes
    },
    mend() {
      left = Number.POSITIVE_INFINITY
    },
    async close() {
      for (const connection of connections) connection.destroy()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
      closed(self)
    },
  }
  return opened(self, `forward to ${address}`)
}
