import { createContext, Script } from 'node:vm'

/** Milliseconds of processor time: a pattern can take exponential time, and holds the process meanwhile. */
const LONGEST_MATCH = 50
/** Milliseconds that a loaded machine is given for that. */
const LONGEST_WAIT = 16 * LONGEST_MATCH

/** Returns why a text is no pattern, as a field message; null when it is one. */
export function patternProblem(pattern: string): string | null {
  return matches(pattern, '') === null ? 'must be a regular expression' : null
}

/** Returns why the pattern does not accept the password, as a field message; null when it does. */
export function passwordProblem(pattern: string, password: string): string | null {
  switch (matches(pattern, password)) {
    case true:
      return null
    case false:
      return "must match the organization's passwordPattern"
    case null:
      return "cannot be compared with the organization's passwordPattern in time"
  }
}

const MATCH = new Script('pattern.test(text)')

/** Returns null if a match cannot be found out in time, or at all. */
function matches(pattern: string, text: string): boolean | null {
  const regExp = compile(pattern)
  if (regExp === null) return null
  const context = createContext({ pattern: regExp, text })
  for (let timeout = LONGEST_MATCH; timeout <= LONGEST_WAIT; timeout *= 2) {
    const before = process.threadCpuUsage()
    try {
      return MATCH.runInContext(context, { timeout }) === true
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null
      // Other programs may have had the processor: the match has failed if it was this one.
      const { user, system } = process.threadCpuUsage(before)
      if ((user + system) / 1_000 >= LONGEST_MATCH / 2) return null
    }
  }
  return null
}

/** Unicode patterns first: only they know `\p{L}`. Others may have escapes that Unicode refuses, such as `\-`. */
function compile(pattern: string): RegExp | null {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags)
    } catch {}
  }
  return null
}
