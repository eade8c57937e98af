import type { MikroORM } from '@mikro-orm/postgresql'
import { certainSkew, TOLERANCE } from './clock-agreement.ts'
import { statement } from './statement.ts'

/** Milliseconds for which concurrent checks share the outcome of one probe. */
const FRESH = 250

type Part = 'database' | 'connections' | 'disk' | 'clock'
type Outcome = Readonly<Record<Part, string | null>>

/** Each check returns null, or what is wrong; all share one small write. `now` returns milliseconds. */
export function databaseChecks(
  orm: MikroORM,
  now: () => number,
): Readonly<Record<Part, () => Promise<string | null>>> {
  let last: { readonly at: number; readonly outcome: Promise<Outcome> } | null = null
  const probe = (): Promise<Outcome> => {
    if (last === null || Math.abs(now() - last.at) > FRESH) last = { at: now(), outcome: probeOnce(orm, now) }
    return last.outcome
  }
  const part = (name: Part) => async () => (await probe())[name]
  return {
    database: part('database'),
    connections: part('connections'),
    disk: part('disk'),
    clock: part('clock'),
  }
}

const HEALTHY: Outcome = { database: null, connections: null, disk: null, clock: null }

async function probeOnce(orm: MikroORM, now: () => number): Promise<Outcome> {
  const requestedAt = now()
  try {
    const [row] = await statement<{ milliseconds: number }>(
      orm.em.fork(),
      'probe-readiness',
      `insert into installation (name, value) values ('readiness-probe', ?)
       on conflict (name) do update set value = excluded.value
       returning extract(epoch from clock_timestamp())::float8 * 1000 as milliseconds`,
      [new Date(requestedAt).toISOString()],
    )
    const skew = certainSkew(row?.milliseconds ?? requestedAt, { before: requestedAt, after: now() })
    if (Math.abs(skew) <= TOLERANCE) return HEALTHY
    const direction = skew < 0 ? 'behind' : 'ahead of'
    return { ...HEALTHY, clock: `${(Math.abs(skew) / 1_000).toFixed(1)} s ${direction} the database's` }
  } catch (error) {
    const [failing, reason] = failureOf(error)
    return { ...HEALTHY, [failing]: reason }
  }
}

function failureOf(error: unknown): [Part, string] {
  const message = Error.isError(error) ? error.message : String(error)
  for (let cause = error; Error.isError(cause); cause = cause.cause) {
    switch ((cause as { code?: unknown }).code) {
      case '53300':
        return ['connections', 'the server gives no more connections']
      case '53100':
        return ['disk', 'the disk of the server is full']
      case '58030':
        return ['disk', 'the server cannot read or write its files']
      case '25006':
        return ['database', 'the server is read-only']
    }
    // The pool's message when all connections are in use; an unreachable server has another.
    if (cause.message === 'timeout exceeded when trying to connect')
      return ['connections', 'all connections of this process are in use']
  }
  return ['database', message]
}
