/** Instants of bodies, where the instant that a resource has already may come back without its milliseconds. */

/**
 * Returns the instant of a body; null for none. Date types of some languages have whole seconds only: what they send back
 * of `stored` counts as that, and not as a change by less than a second.
 */
export function instantOf(text: string | null | undefined, stored: Date | null | undefined): Date | null {
  if (text == null) return null
  const given = new Date(text)
  const isStored = stored != null && given.getTime() === stored.getTime() - stored.getUTCMilliseconds()
  return isStored ? stored : given
}
