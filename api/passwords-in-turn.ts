/** A burst of sign-ins of one organization must not hold up those of others. */
import type { PasswordHasher } from '../access/password-hash.ts'
import { refusedWithoutTurn, type Turn, takingTurns } from './turns.ts'

/** Two of the four threads that also encrypt and resolve names: a burst of sign-ins leaves the others free. */
const AT_ONCE = 2
/** Of an organization: three seconds of work or so, if it is alone. */
const MOST_WAITING = 50

/** Returns the hasher of a request, which throws `rate-limit-exceeded` if too many of its organization are waiting. */
export function passwordsInTurn(hasher: PasswordHasher): (turn: Turn) => PasswordHasher {
  const inTurn = takingTurns({ atOnce: AT_ONCE, mostWaiting: MOST_WAITING })
  return (turn) => {
    const run = <T>(task: () => Promise<T>): Promise<T> =>
      refusedWithoutTurn(DETAIL, new Date(), () => inTurn(turn, task))
    return {
      hash: (password) => run(() => hasher.hash(password)),
      verify: (password, hash) => run(() => hasher.verify(password, hash)),
    }
  }
}

const DETAIL = 'Too many passwords of this organization are being checked.'
