export const LARGEST_RESPONSE = 1024 * 1024

/** Specification 6.1: dispute events are accepted with any 2xx, all others with 200 only. */
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
