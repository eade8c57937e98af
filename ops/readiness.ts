import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves with what is wrong, in a few words, or null. A check that throws or times out fails. */
export type Check = () => Promise<string | null>
export type Checks = Readonly<Record<string, Check>>

export interface ReadinessReport {
  /** `degraded`: the process does its work, but something beside it is wrong. */
  readonly status: 'ready' | 'degraded' | 'not ready'
  readonly checks: Readonly<Record<string, string>>
}

export interface Readiness {
  report(): Promise<ReadinessReport>
}

export interface ReadinessOptions {
  readonly stopping: AbortSignal
  readonly required: Checks
  readonly degrading?: Checks
}

/** Less than the usual five seconds of health checks. Milliseconds. */
const TIMEOUT = 4_000

export function createReadiness({ stopping, required, degrading = {} }: ReadinessOptions): Readiness {
  return {
    async report() {
      const [needed, beside] = await Promise.all([run(required), run(degrading)])
      const checks = { ...needed, ...beside, stopping: stopping.aborted ? 'the process is stopping' : 'ok' }
      const isFine = (results: Readonly<Record<string, string>>): boolean =>
        Object.values(results).every((result) => result === 'ok')
      if (stopping.aborted || !isFine(needed)) return { status: 'not ready', checks }
      return { status: isFine(beside) ? 'ready' : 'degraded', checks }
    },
  }
}

async function run(checks: Checks): Promise<Record<string, string>> {
  const results = Object.entries(checks).map(async ([name, check]) => [name, await resultOf(check)] as const)
  return Object.fromEntries(await Promise.all(results))
}

async function resultOf(check: Check): Promise<string> {
  const responded = new AbortController()
  const late = sleep(TIMEOUT, `no answer within ${TIMEOUT / 1_000} s`, { signal: responded.signal })
  try {
    return (await Promise.race([check(), late])) ?? 'ok'
  } catch (error) {
    return Error.isError(error) ? error.message : String(error)
  } finally {
    responded.abort()
    late.catch(() => {})
  }
}
