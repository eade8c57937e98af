/**
 * Processes renew their row every two seconds; after six without renewal, leases are freed. The late records of a
 * process that was only paused change nothing where another has taken over.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { newId } from '../db/new-id.ts'
import { statement } from '../db/statement.ts'
import { DUE } from '../delivery/queue.ts'
import type { Elsewhere } from '../delivery/slots.ts'
import { startLoop } from './loop.ts'
import type { Watchdog } from './watchdog.ts'

const INTERVAL = 2_000
const DEAD_AFTER_SECONDS = 6

export interface PresenceOptions {
  readonly em: () => EntityManager
  readonly log: Logger
  readonly watchdog?: Watchdog | undefined
  readonly inFlight: () => ReadonlyMap<string, number>
  readonly onOthers: (elsewhere: ReadonlyMap<string, Elsewhere>) => void
  /** Called when the leases of a dead process have been freed. */
  readonly onFreed: () => void
}

export interface Presence {
  /** Owner id of the leases; random for each start of the process. */
  readonly id: string
  /** Removes the row, so that no other process has to detect the end. */
  stop(): Promise<void>
}

export function startPresence({ em, log, watchdog, inFlight, onOthers, onFreed }: PresenceOptions): Presence {
  const id = newId('wrk')
  const renewal = startLoop({
    name: 'worker presence',
    interval: INTERVAL,
    log,
    watchdog,
    clock: null,
    async iterate() {
      const others = await renew(em(), id, inFlight())
      onOthers(elsewhere(others.filter(({ is_alive: isAlive }) => isAlive)))
      const dead = others.filter(({ is_alive: isAlive }) => !isAlive).map((other) => other.id)
      if (dead.length > 0) {
        const freed = await freeLeases(em(), dead)
        log.warn({ processes: dead, deliveries: freed }, 'freed what workers that died had in hand')
        if (freed > 0) onFreed()
      }
      return false
    },
  })
  return {
    id,
    async stop() {
      await renewal.stop()
      await statement(em(), 'end-presence', 'delete from worker_processes where id = ?', [id])
    },
  }
}

interface OtherProcess {
  readonly id: string
  readonly is_alive: boolean
  readonly in_flight: Readonly<Record<string, number>>
}

async function renew(
  em: EntityManager,
  id: string,
  inFlight: ReadonlyMap<string, number>,
): Promise<OtherProcess[]> {
  return await statement<OtherProcess>(
    em,
    'renew-presence',
    `with renewed as (
       insert into worker_processes (id, alive_until, in_flight)
       values (?, now() + make_interval(secs => ${DEAD_AFTER_SECONDS}), ?::jsonb)
       on conflict (id) do update set alive_until = excluded.alive_until, in_flight = excluded.in_flight
     )
     select id, alive_until >= now() as is_alive, in_flight, set_config('synchronous_commit', 'off', true)
       from worker_processes where id <> ?`,
    [id, JSON.stringify(Object.fromEntries(inFlight)), id],
  )
}

async function freeLeases(em: EntityManager, processes: readonly string[]): Promise<number> {
  const [row] = await statement<{ freed: number }>(
    em,
    'free-leases-of-the-dead',
    `with dead as (
       delete from worker_processes
        where id in (select jsonb_array_elements_text(?::jsonb)) and alive_until < now() returning id
     ), freed as (
       update deliveries set lease_owner = null, lease_until = null
        where ${DUE} and lease_owner in (select id from dead) returning 1
     )
     select count(*)::int as freed from freed`,
    [JSON.stringify(processes)],
  )
  return row?.freed ?? 0
}

function elsewhere(others: readonly OtherProcess[]): Map<string, Elsewhere> {
  const found = new Map<string, Elsewhere>()
  for (const { in_flight: receivers } of others) {
    for (const [receiver, count] of Object.entries(receivers)) {
      const { inFlight, workers } = found.get(receiver) ?? { inFlight: 0, workers: 0 }
      found.set(receiver, { inFlight: inFlight + count, workers: workers + 1 })
    }
  }
  return found
}
