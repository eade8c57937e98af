/**
 * Has PostgreSQL keep the statements that are asked often, by name: it parses and plans each once for a connection,
 * where it would otherwise do so at every call, which costs more than running most of ours.
 */
import type { Pool, PoolClient } from 'pg'

/** Calls after which a text gets a name. */
const OFTEN = 5
/** Names at most, kept by every connection: enough for all our own statements. */
const NAMES = 300
/** Texts counted at a time. */
const COUNTED = 2_000

const names = new Map<string, string>()
const calls = new Map<string, number>()
let generation = 0

/** Begins a text that is put together of what a caller asks for: such texts have no end, and get no names. */
export const COMPOSED = '/* composed */ '

/** Has the pool's connections run by name what is asked often. */
export function prepareStatements(pool: Pool): void {
  pool.on('connect', (client) => prepareOn(client))
}

/**
 * Whether an error says that a table has changed under a kept statement. The next call is fine: all names are given up.
 */
export function isOutdatedStatement(error: unknown): boolean {
  return Error.isError(error) && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery'
}

function prepareOn(client: PoolClient): void {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown
  const named = (...given: unknown[]): unknown => {
    const [text, values, ...rest] = given
    if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0 || rest.length > 0)
      return query(...given)
    if (text.startsWith(COMPOSED)) return query(text, values)
    const name = nameOf(text)
    if (name === null) return query(text, values)
    return (query({ name, text, values }) as Promise<unknown>).catch((error: unknown) => {
      if (isOutdatedStatement(error)) forget(name)
      throw error
    })
  }
  client.query = named as PoolClient['query']
}

function nameOf(text: string): string | null {
  const known = names.get(text)
  if (known !== undefined) return known
  const count = (calls.get(text) ?? 0) + 1
  if (count < OFTEN || names.size >= NAMES) {
    if (calls.size >= COUNTED) calls.clear()
    calls.set(text, count)
    return null
  }
  calls.delete(text)
  const name = `billing_${generation}_${names.size}`
  names.set(text, name)
  return name
}

/** Gives up all names of a generation, once: other tables may have changed as well. */
function forget(name: string): void {
  if (!name.startsWith(`billing_${generation}_`)) return
  generation += 1
  names.clear()
}
