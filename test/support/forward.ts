/** A port that leads to another address, for tests in which that address comes, goes, or breaks. */
import { connect, createServer, type Socket } from 'node:net'
import { closed, opened } from './open-things.ts'

export interface Forward {
  /** Breaks every connection and refuses new ones, once the other side has been sent this many more bytes. */
  breakAfter(bytes: number): void
  /** As in a network partition: connections stay open, and what is sent meanwhile arrives with `heal`. */
  swallow(): void
  heal(): void
  /** How often the other side was sent something after it had last sent something itself. */
  roundTrips(): number
  close(): Promise<void>
}

export async function forward(port: number, address: string): Promise<Forward> {
  const [host = '', target = ''] = address.split(':')
  const connections = new Set<Socket>()
  let left = Number.POSITIVE_INFINITY
  /** What passes later, in its order; null if everything passes at once. */
  let held: (() => void)[] | null = null
  const pass = (action: () => void): void => {
    if (held === null) action()
    else held.push(action)
  }
  let trips = 0
  let isTalking = false
  const server = createServer((incoming) => {
    const outgoing = connect(Number(target), host)
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      connections.add(one)
      one.on('error', () => pass(() => other.destroy()))
      one.on('close', () => {
        connections.delete(one)
        pass(() => other.destroy())
      })
    }
    outgoing.on('data', (chunk: Buffer) =>
      pass(() => {
        isTalking = false
        incoming.write(chunk)
      }),
    )
    outgoing.on('end', () => pass(() => incoming.end()))
    incoming.on('data', (chunk: Buffer) =>
      pass(() => {
        if (!isTalking) trips += 1
        isTalking = true
        left -= chunk.length
        if (left < 0) for (const connection of connections) connection.destroy()
        else outgoing.write(chunk)
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const self: Forward = {
    breakAfter(bytes) {
      left = bytes
    },
    swallow() {
      held ??= []
    },
    heal() {
      left = Number.POSITIVE_INFINITY
      const waiting = held ?? []
      held = null
      for (const action of waiting) action()
    },
    roundTrips: () => trips,
    async close() {
      self.heal()
      for (const connection of connections) connection.destroy()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
      closed(self)
    },
  }
  return opened(self, `forward to ${address}`)
}
