// Types of lock.mjs, which is plain JavaScript because the set-up step runs it.
export function tryLock(path: string): { taken: boolean; holder?: number }
export function unlock(path: string): void
export function withLock<Result>(
  path: string,
  work: () => Promise<Result>,
  options?: { onWait?: (holder: number) => void; signal?: AbortSignal | undefined },
): Promise<Result>
