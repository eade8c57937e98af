/**
 * When a receiver has accepted an event (specification 6.1): the status is 200, of dispute events any 2xx, and
 * the response ends within 20 seconds and 1 MiB. A redirect is a failure.
 */

/**
 * Time limit of an attempt, from the connection to the last byte of the response, in milliseconds in which this process
 * runs. It begins once the name is resolved, which has its own limit.
 */
export const ATTEMPT_TIMEOUT = 20_000
/** A response of a receiver that does not end within this many bytes fails. */
export const LARGEST_RESPONSE = 1024 * 1024

/** True if any 2xx is a success for events of this type, not only 200. */
export function takesAnySuccessStatus(eventType: string): boolean {
  return eventType.startsWith('dispute-')
}

/** Returns why a response that came in time is no success; null if it is one. */
export function responseFailure(
  { status, size }: { readonly status: number | null; readonly size: number },
  anySuccessStatus: boolean,
  largest = LARGEST_RESPONSE,
): 'response-too-large' | 'protocol' | 'redirect' | 'status' | null {
  if (size > largest) return 'response-too-large'
  if (status === null) return 'protocol'
  if (status === 200 || (anySuccessStatus && status >= 200 && status < 300)) return null
  return status >= 300 && status < 400 ? 'redirect' : 'status'
}
