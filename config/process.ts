/** One Ctrl-C can arrive twice, from terminal and npm. Only a later signal aborts the drain. */
import { ConfigurationError } from './config.ts'

const SAME_REQUEST = 2_000

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

export interface Lifecycle {
  readonly stopping: AbortSignal
  /** Adds a step to the drain, which runs in reverse order, also if the start fails. */
  onDrain(stop: () => Promise<void>): void
  /** Adds a step that runs after the drain, even if the drain failed or was aborted. */
  onExit(release: () => Promise<void>): void
  /** Stops the process as a signal does, with the reason on stderr and exit code 1. */
  fail(reason: string): void
}

/** Runs `start`, then waits for SIGINT, SIGTERM or SIGHUP, drains and exits. */
export async function runProcess(start: (lifecycle: Lifecycle) => Promise<void>): Promise<void> {
  const stopping = new AbortController()
  const givenUp = new AbortController()
  const drains: (() => Promise<void>)[] = []
  const releases: (() => Promise<void>)[] = []
  let exitCode = 0
  const report = (error: unknown): void => {
    exitCode = 1
    console.error(error)
  }
  const stopRequested = once(stopping.signal)
  listenForSignals(stopping, givenUp, (code) => {
    exitCode = code
  })

  try {
    await start({
      stopping: stopping.signal,
      onDrain: (stop) => drains.unshift(stop),
      onExit: (release) => releases.unshift(release),
      fail(reason) {
        report(reason)
        stopping.abort()
      },
    })
    await stopRequested
  } catch (error) {
    if (!stopping.signal.aborted) report(startFailure(error))
  }
  const drain = async (): Promise<void> => {
    for (const stop of drains) {
      if (givenUp.signal.aborted) return
      await stop().catch(report)
    }
  }
  await Promise.race([drain(), once(givenUp.signal)])
  for (const release of releases) await release().catch(report)
  process.exit(exitCode)
}

function listenForSignals(
  stopping: AbortController,
  givenUp: AbortController,
  exitWith: (code: number) => void,
): void {
  let firstAt = 0
  for (const [signal, code] of Object.entries(EXIT_CODES)) {
    process.on(signal, () => {
      // A closed terminal refuses output, which must not end the drain.
      if (signal === 'SIGHUP')
        for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
      if (!stopping.signal.aborted) {
        firstAt = performance.now()
        stopping.abort(signal)
      } else if (performance.now() - firstAt > SAME_REQUEST && !givenUp.signal.aborted) {
        exitWith(code)
        givenUp.abort(signal)
      }
    })
  }
}

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

export function startFailure(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message
  if (!Error.isError(error)) return String(error)
  const code = 'code' in error ? error.code : ''
  if (code === 'EADDRINUSE' && 'port' in error) {
    return `Port ${error.port} is in use. Stop what listens there, or set PORT (or OPS_PORT) to a free one.`
  }
  return error.message
}

/** Calls `open` until it succeeds, at most for a minute, and not again after a failure that does not pass. Logs only the first one: the database may still be starting. */
export async function untilAvailable<T>(
  what: string,
  open: () => Promise<T>,
  mayPass: (error: unknown) => boolean,
  stopping: AbortSignal,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await open()
    } catch (error) {
      if (!mayPass(error) || stopping.aborted || tries >= 60) throw error
      if (tries === 0) console.error(`${what} cannot be reached yet: ${startFailure(error)}`)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  }
}
