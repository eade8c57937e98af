import pg from 'pg'
import type { Logger } from 'pino'
import { connectionOptions } from './connection.ts'

export interface Listener {
  close(): Promise<void>
}

/** Milliseconds. */
const HEARTBEAT = 5_000
const HEARTBEAT_TIMEOUT = 5_000

/** All handlers are called after a reconnection, because notifications may have been missed. */
export function listen(
  databaseUrl: string,
  handlers: Readonly<Record<string, () => void>>,
  log: Logger,
): Listener {
  let closed = false
  let client: pg.Client | null = null
  let next: NodeJS.Timeout | undefined

  const connect = async (): Promise<void> => {
    if (closed) return
    const fresh = new pg.Client({
      ...connectionOptions({ databaseUrl, name: 'billing listener' }),
      connectionTimeoutMillis: HEARTBEAT_TIMEOUT,
      query_timeout: HEARTBEAT_TIMEOUT,
    })
    let lost = false
    const lose = (error?: unknown): void => {
      if (lost) return
      lost = true
      client = null
      clearTimeout(next)
      fresh.end().catch(() => {})
      if (closed) return
      log.warn({ err: error }, 'lost the notification connection; polling until it is back')
      next = setTimeout(() => {
        opening = connect()
      }, 1_000)
    }
    // Without a heartbeat, a silently lost connection looks like one without notifications.
    const beat = async (): Promise<void> => {
      try {
        await fresh.query('select')
        if (!lost && !closed) next = setTimeout(() => void beat(), HEARTBEAT)
      } catch (error) {
        lose(error)
      }
    }
    fresh.on('error', lose)
    fresh.on('end', () => lose())
    fresh.on('notification', ({ channel }) => handlers[channel]?.())
    try {
      await fresh.connect()
      for (const channel of Object.keys(handlers)) await fresh.query(`listen ${pg.escapeIdentifier(channel)}`)
      client = fresh
      for (const handle of Object.values(handlers)) handle()
      next = setTimeout(() => void beat(), HEARTBEAT)
    } catch (error) {
      lose(error)
    }
  }
  let opening = connect()
  return {
    async close() {
      closed = true
      clearTimeout(next)
      await opening
      clearTimeout(next)
      await client?.end()
    },
  }
}
