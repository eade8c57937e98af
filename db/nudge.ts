/**
 * Nudges the loops that carry on what a transaction has left for them.
 *
 * A nudge is sent after the commit where the transaction could not do it by itself without making others wait
 * (`db/outbox.ts`): PostgreSQL lets one transaction with a NOTIFY commit at a time, its wait for the disk included, which
 * would make every command of every organization wait in line. Nothing depends on a nudge: the loops also look by
 * themselves, every second.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import { statement } from './statement.ts'

interface Nudges {
  readonly waiting: Set<string>
  sending: boolean
}

const byPool = new WeakMap<object, Nudges>()

/** Has whoever listens on the channels look now. Calls made meanwhile become one; a nudge that fails is let go. */
export function nudge(em: EntityManager, channels: Iterable<string>): void {
  const pool = em.getConnection()
  const nudges = byPool.get(pool) ?? { waiting: new Set(), sending: false }
  byPool.set(pool, nudges)
  for (const channel of channels) nudges.waiting.add(channel)
  if (nudges.sending || nudges.waiting.size === 0) return
  nudges.sending = true
  const send = async (): Promise<void> => {
    while (nudges.waiting.size > 0) {
      const taken = [...nudges.waiting]
      nudges.waiting.clear()
      await statement(
        em,
        'nudge',
        `select set_config('synchronous_commit', 'off', true), pg_notify(channel, '')
           from unnest(?::text[]) as channel`,
        [taken],
      )
    }
  }
  void send()
    .catch(() => {}) // the loops look by themselves
    .finally(() => {
      nudges.sending = false
    })
}
