/** Keeps what was made of the arguments that were used last, `most` of them, by their keys. */
export function lastUsed<Argument, Made>(
  most: number,
  keyOf: (argument: Argument) => string,
  make: (argument: Argument) => Made,
): (argument: Argument) => Made {
  const kept = new Map<string, Made>()
  return (argument) => {
    const key = keyOf(argument)
    const made = kept.get(key) ?? make(argument)
    kept.delete(key)
    kept.set(key, made)
    if (kept.size > most) kept.delete(kept.keys().next().value ?? '')
    return made
  }
}
