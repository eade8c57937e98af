/** Advisory locks of transactions, by name: each keeps one thing from being done twice at once. */
import type { EntityManager } from '@mikro-orm/postgresql'
import { statement } from './statement.ts'

/** First of the two numbers that every lock of the service has, so that nobody else's is met. */
const SERVICE = 7310

const LOCKS = {
  migration: 1,
  'signing-keys': 2,
  bootstrap: 3,
  'customer-token-keys': 4,
  notification: 5,
} as const

type LockName = keyof typeof LOCKS

/** Waits for the lock, and holds it until the transaction of `em` ends. */
export async function lockUntilCommit(em: EntityManager, name: LockName): Promise<void> {
  await statement(em, 'take-advisory-lock', 'select pg_advisory_xact_lock(?::int, ?::int)', [
    SERVICE,
    LOCKS[name],
  ])
}

/** The arguments of PostgreSQL's functions of advisory locks, for a statement that does more than lock. */
export function lockArguments(name: LockName): string {
  return `${SERVICE}, ${LOCKS[name]}`
}

/** Takes the lock of an arbitrary text, until the transaction of `em` ends, unless another transaction has it. */
export async function tryLockText(em: EntityManager, text: string): Promise<boolean> {
  const [row] = await statement<{ taken: boolean }>(
    em,
    'try-lock-text',
    'select pg_try_advisory_xact_lock(hashtextextended(?, ?::bigint)) as taken',
    [text, SERVICE],
  )
  return row?.taken === true
}
