/** How long what a customer's browser is given lasts; in milliseconds. */

/** An authentication token waits this long to be exchanged. */
export const AUTHENTICATION_TOKEN_LIFETIME = 3_600_000
/** A customer token lasts this long unless it is asked otherwise … */
export const CUSTOMER_TOKEN_LIFETIME = 3_600_000
/** … and never longer than this. */
export const LONGEST_CUSTOMER_TOKEN = 24 * 3_600_000

/** When a customer token expires: as asked, or after an hour; a sentence where that cannot be. */
export function customerTokenExpiry(
  asked: number | null,
  now: number,
): { readonly expiredTime: number } | { readonly problem: string } {
  if (asked === null) return { expiredTime: now + CUSTOMER_TOKEN_LIFETIME }
  if (asked <= now) return { problem: 'must be in the future' }
  if (asked > now + LONGEST_CUSTOMER_TOKEN) return { problem: 'must be at most 24 hours ahead' }
  return { expiredTime: asked }
}
