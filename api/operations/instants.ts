/** Date types of some languages have whole seconds only: `stored` without its milliseconds is no change. */
export function instantOf(text: string, stored: Date | null | undefined): Date
export function instantOf(text: string | null | undefined, stored: Date | null | undefined): Date | null
export function instantOf(text: string | null | undefined, stored: Date | null | undefined): Date | null {
  if (text == null) return null
  const given = new Date(text)
  const isStored = stored != null && given.getTime() === stored.getTime() - stored.getUTCMilliseconds()
  return isStored ? stored : given
}

/** As `instantOf`, in milliseconds. */
export function millisecondsOf(
  text: string | null | undefined,
  stored: number | null | undefined,
): number | null {
  return instantOf(text, stored == null ? null : new Date(stored))?.getTime() ?? null
}

/** As `instantOf`, as the text that is stored in a document. */
export function instantTextOf(text: string, stored: string | null | undefined): string {
  return instantOf(text, stored == null ? null : new Date(stored)).toISOString()
}
