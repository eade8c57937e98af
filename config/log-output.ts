/** Where a process writes its log. A log that cannot be written, as on a full disk, neither ends nor holds the process. */
import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

const STDOUT = 1
const CHUNK = 16 * 1024
/** Chunks that wait to be written; further lines are dropped until there is room. */
const MOST_WAITING = 1_024
/** Milliseconds. */
const TRY_AGAIN_AFTER = 100
/** Milliseconds that a process waits at its end for a reader that takes nothing. */
const LAST_WAIT = 5_000

let output: DestinationStream | undefined

/** Writes lines to stdout in the background, in their order. The rest is written when the process ends. */
export function logOutput(): DestinationStream {
  output ??= createOutput()
  return output
}

function createOutput(): DestinationStream {
  // Makes a pipe non-blocking: a reader that has stopped would hold a write, and with it the end of the process.
  void process.stdout
  const waiting: string[] = []
  /** What is written next: the rest of a chunk, so that a line is never left half written. */
  let begun: Buffer = Buffer.alloc(0)
  let state: 'idle' | 'writing' | 'trying again' = 'idle'

  const next = (): void => {
    if (begun.length === 0) begun = Buffer.from(waiting.shift() ?? '')
    state = begun.length === 0 ? 'idle' : 'writing'
    if (state === 'idle') return
    write(STDOUT, begun, (error, written) => {
      if (error === null) {
        begun = begun.subarray(written)
        next()
      } else {
        state = 'trying again'
        setTimeout(next, TRY_AGAIN_AFTER).unref()
      }
    })
  }
  process.once('exit', () => {
    // What is being written is not written twice.
    writeRest(Buffer.concat([state === 'writing' ? Buffer.alloc(0) : begun, Buffer.from(waiting.join(''))]))
  })
  return {
    write(line) {
      const last = waiting.length - 1
      const chunk = waiting[last]
      if (chunk !== undefined && chunk.length + line.length <= CHUNK) waiting[last] = chunk + line
      else if (waiting.length < MOST_WAITING) waiting.push(line)
      if (state === 'idle') next()
    },
  }
}

function writeRest(rest: Buffer): void {
  let until = performance.now() + LAST_WAIT
  let bytes = rest
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(STDOUT, bytes))
      until = performance.now() + LAST_WAIT
    } catch (error) {
      const isSlow = Error.isError(error) && 'code' in error && error.code === 'EAGAIN'
      if (!isSlow || performance.now() > until) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}
