/**
 * A nudge is sent after the commit if the transaction could not notify without delaying others
 * (`db/outbox.ts`): PostgreSQL commits transactions with a NOTIFY one at a time, including the wait for the
 * disk. Nothing depends on a nudge: the loops also poll every second.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import { statement } from './statement.ts'

interface Nudges {
  readonly waiting: Set<string>
  sending: boolean
}

const byPool = new WeakMap<object, Nudges>()

/** Concurrent calls are merged; a failed nudge is ignored. */
export function nudge(em: EntityManager, channels: Iterable<string>): void {
  const pool = em.getConnection()
  const nudges = byPool.get(pool) ?? { waiting: new Set(), sending: false }
  byPool.set(pool, nudges)
  for (const channel of channels) nudges.waiting.add(channel)
  if (nudges.sending || nudges.waiting.size === 0) return
  nudges.sending = true
  const send = async (): Promise<void> => {
    while (nudges.waiting.size > 0) {
      const batch = [...nudges.waiting]
      nudges.waiting.clear()
      await statement(
        em,
        'nudge',
        `select set_config('synchronous_commit', 'off', true), pg_notify(channel, '')
           from unnest(?::text[]) as channel`,
        [batch],
      )
    }
  }
  void send()
    .catch(() => {}) // the loops poll anyway
    .finally(() => {
      nudges.sending = false
    })
}
