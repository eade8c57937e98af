/**
 * Lifetimes of the tokens of customers' browsers, in milliseconds. Those of authentication and password tokens are
 * an organization's settings: commands/access/authentication-options.ts.
 */
import type { FieldProblem } from '../billing/errors.ts'

export const CUSTOMER_TOKEN_LIFETIME = 3_600_000
export const LONGEST_CUSTOMER_TOKEN = 24 * 3_600_000

/** Returns the expiry of a customer token, by default in an hour, or why the requested one is invalid. */
export function customerTokenExpiry(
  requested: number | null,
  now: number,
): { readonly expiredTime: number } | { readonly problem: FieldProblem } {
  if (requested === null) return { expiredTime: now + CUSTOMER_TOKEN_LIFETIME }
  if (requested <= now) return { problem: { code: 'in-the-past', message: 'must be in the future' } }
  if (requested > now + LONGEST_CUSTOMER_TOKEN) {
    return { problem: { code: 'out-of-range', message: 'must be at most 24 hours ahead' } }
  }
  return { expiredTime: requested }
}
