/** What every process does around its work: one message when it cannot start, a drain when it is told to stop. */
import { ConfigurationError } from './config.ts'

/** Runs `start`, then waits for SIGINT or SIGTERM and drains; a second signal ends the process at once. */
export async function runProcess(
  start: (stopping: AbortSignal) => Promise<() => Promise<void>>,
): Promise<void> {
  const stopping = new AbortController()
  const signalled = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (stopping.signal.aborted) process.exit(signal === 'SIGINT' ? 130 : 143)
        stopping.abort(signal)
        resolve()
      })
    }
  })
  let stop: () => Promise<void>
  try {
    stop = await start(stopping.signal)
  } catch (error) {
    if (stopping.signal.aborted) process.exit(0)
    console.error(startFailure(error))
    process.exit(1)
  }
  await signalled
  try {
    await stop()
  } catch (error) {
    console.error(error)
    process.exit(1)
  }
  process.exit(0)
}

/** Why a start failed, as one message for a person. */
export function startFailure(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message
  if (!Error.isError(error)) return String(error)
  const code = 'code' in error ? error.code : ''
  if (code === 'EADDRINUSE' && 'port' in error) {
    return `Port ${error.port} is in use. Stop what listens there, or set PORT (or OPS_PORT) to a free one.`
  }
  return error.message
}

/** Tries `open` until it works, saying so once; a database that is still starting is no reason to die. */
export async function untilAvailable<T>(
  what: string,
  open: () => Promise<T>,
  stopping: AbortSignal,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await open()
    } catch (error) {
      if (stopping.aborted || tries >= 60) throw error
      if (tries === 0) console.error(`${what} cannot be reached yet: ${startFailure(error)}`)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  }
}
