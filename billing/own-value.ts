/** Returns the member itself: callers choose ids such as `constructor`, which every object inherits. */
export function ownValue<T>(
  values: Readonly<Record<string, T>> | null | undefined,
  name: string,
): T | undefined {
  return values != null && Object.hasOwn(values, name) ? values[name] : undefined
}
