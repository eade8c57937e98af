import type { EntityManager } from '@mikro-orm/postgresql'
import { statement } from './statement.ts'

/** Separates the service's locks from others in the database. */
const SERVICE = 7310

const LOCKS = {
  migration: 1,
  'signing-keys': 2,
  bootstrap: 3,
  'customer-token-keys': 4,
  notification: 5,
} as const

type LockName = keyof typeof LOCKS

export async function lockUntilCommit(em: EntityManager, name: LockName): Promise<void> {
  await statement(em, 'take-advisory-lock', 'select pg_advisory_xact_lock(?::int, ?::int)', [
    SERVICE,
    LOCKS[name],
  ])
}

/** For statements that do more than lock. */
export function lockArguments(name: LockName): string {
  return `${SERVICE}, ${LOCKS[name]}`
}

export async function lockText(em: EntityManager, text: string): Promise<void> {
  await statement(em, 'take-lock-of-text', 'select pg_advisory_xact_lock(hashtextextended(?, ?::bigint))', [
    text,
    SERVICE,
  ])
}

/** Locks an arbitrary text until the transaction of `em` ends. False if another transaction holds the lock. */
export async function tryLockText(em: EntityManager, text: string): Promise<boolean> {
  const [row] = await statement<{ taken: boolean }>(
    em,
    'try-lock-text',
    'select pg_try_advisory_xact_lock(hashtextextended(?, ?::bigint)) as taken',
    [text, SERVICE],
  )
  return row?.taken === true
}
