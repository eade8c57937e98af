/** Polls for a fact; nothing in the tests sleeps for a guess. */
export async function waitFor<T>(
  what: string,
  ask: () => T | null | Promise<T | null>,
  timeout = 30_000,
): Promise<T> {
  const until = Date.now() + timeout
  for (;;) {
    const response = await ask()
    if (response !== null) return response
    if (Date.now() > until) throw new Error(`waited ${timeout} ms without success for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
