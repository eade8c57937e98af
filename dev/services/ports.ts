// Below the range of outgoing connections (Linux 32768, others 49152): a client that retries while Temporal is down
// could get Temporal's own port, connect to itself and block Temporal.
import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const FIRST = 20_000
const COUNT = 10_000
const handedOut = new Set<number>()

/** Returns a port that is free now and that this process has not returned before. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (handedOut.has(port) || !(await portIsFree(port))) continue
    handedOut.add(port)
    return port
  }
  throw new Error(`No free port between ${FIRST} and ${FIRST + COUNT - 1} on 127.0.0.1.`)
}

export function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })
}

/** Returns the first free port at or above the given one, or any free one if the next hundred are in use. */
export async function nextFreePort(from: number): Promise<number> {
  for (let port = from; port < Math.min(from + 100, 65_536); port++) {
    if (await portIsFree(port)) return port
  }
  return freePort()
}

/** Waits for a server on 127.0.0.1:port. Returns false after the time limit, or as soon as waiting is hopeless. */
export async function portResponds(
  port: number,
  milliseconds: number,
  isHopeless: () => boolean,
): Promise<boolean> {
  const end = Date.now() + milliseconds
  while (!isHopeless() && Date.now() < end) {
    if (await accepts(port)) return true
    await delay(20)
  }
  return false
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
