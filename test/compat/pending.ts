import { PENDING, PENDING_GROUPS } from './differences.ts'
import { GROUPS, type Operation } from './operations.ts'

export const PENDING_OPERATIONS: ReadonlyMap<Operation, string> = new Map([
  ...Object.entries(PENDING_GROUPS).flatMap(([group, reason]) =>
    Object.keys(GROUPS[group as keyof typeof GROUPS]).map(
      (operation) => [operation as Operation, reason] as const,
    ),
  ),
  ...(Object.entries(PENDING) as [Operation, string][]),
])
