/** What a test file has opened and not closed. The test environment reads the list when the file ends. */

const OPEN = Symbol.for('billing.test.open')

function list(): Map<object, string> {
  const global = globalThis as { [OPEN]?: Map<object, string> }
  global[OPEN] ??= new Map()
  return global[OPEN]
}

export function opened<T extends object>(thing: T, name: string): T {
  list().set(thing, name)
  return thing
}

export function closed(thing: object): void {
  list().delete(thing)
}
