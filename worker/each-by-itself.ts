/**
 * Does the work for each item, for so many at a time. One that fails hinders no other: the first error is thrown at the
 * end. No item is begun once `stopping` is aborted.
 */
export async function eachByItself<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
  { atOnce = 1, stopping }: { readonly atOnce?: number; readonly stopping?: AbortSignal | undefined } = {},
): Promise<void> {
  const failures: unknown[] = []
  const waiting = [...items].values()
  const run = async (): Promise<void> => {
    for (const item of waiting) {
      if (stopping?.aborted) return
      await work(item).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, run))
  if (failures.length > 0) throw failures[0]
}
