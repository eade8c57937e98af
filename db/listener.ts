/** Hears PostgreSQL notifications on a connection of its own, which it opens again whenever it is lost. */
import pg from 'pg'
import type { Logger } from 'pino'

export interface Listener {
  close(): Promise<void>
}

/** Calls `heard[channel]` for each notification, and all of them after a reconnection: something may have been missed. */
export function listen(
  databaseUrl: string,
  heard: Readonly<Record<string, () => void>>,
  log: Logger,
): Listener {
  let closed = false
  let client: pg.Client | null = null
  let retry: NodeJS.Timeout | null = null

  const connect = async (): Promise<void> => {
    if (closed) return
    const fresh = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'billing listener',
      keepAlive: true,
    })
    let lost = false
    const lose = (error?: Error): void => {
      if (lost) return
      lost = true
      client = null
      fresh.end().catch(() => {})
      if (closed) return
      log.warn({ err: error }, 'lost the notification connection; polling until it is back')
      retry = setTimeout(() => void connect(), 1_000)
    }
    fresh.on('error', lose)
    fresh.on('end', () => lose())
    fresh.on('notification', ({ channel }) => heard[channel]?.())
    try {
      await fresh.connect()
      for (const channel of Object.keys(heard)) await fresh.query(`listen ${pg.escapeIdentifier(channel)}`)
      client = fresh
      for (const hear of Object.values(heard)) hear()
    } catch (error) {
      lose(Error.isError(error) ? error : undefined)
    }
  }
  const opening = connect()
  return {
    async close() {
      closed = true
      if (retry !== null) clearTimeout(retry)
      await opening
      await client?.end()
    },
  }
}
