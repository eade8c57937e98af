// Ports on 127.0.0.1 for the local services. They lie below the range from which the system picks the ports of outgoing
// connections (Linux 32768, macOS and Windows 49152): from that range a client that retries while its Temporal is down
// could be given Temporal's own port, connect to itself and keep Temporal from coming back.
import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const FIRST = 20_000
const COUNT = 10_000
const handedOut = new Set<number>()

/** A port nobody listens on at this moment, and that this process has not handed out before. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (handedOut.has(port) || !(await portIsFree(port))) continue
    handedOut.add(port)
    return port
  }
  throw new Error(`No free port between ${FIRST} and ${FIRST + COUNT - 1} on 127.0.0.1.`)
}

/** Whether a server could listen on 127.0.0.1:port now. */
export function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })
}

/** The first free port at or above the given one; any free one when the next hundred are busy. */
export async function nextFreePort(from: number): Promise<number> {
  for (let port = from; port < Math.min(from + 100, 65_536); port++) {
    if (await portIsFree(port)) return port
  }
  return freePort()
}

/** Waits until somebody listens on 127.0.0.1:port; false after the time or as soon as there is no hope. */
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
