/** Long statements end when their process is told to stop, instead of holding it up until they are done. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import { newId } from './new-id.ts'
import { type DatabaseOptions, openOrm } from './orm.ts'
import { statement } from './statement.ts'

/** Milliseconds. */
const REPEATED_AFTER = 200

/**
 * Runs `work` on a connection of its own, and cancels its statements once `stopping` is aborted: what it throws then
 * is dropped.
 */
export async function withCancellation(
  options: Pick<DatabaseOptions, 'databaseUrl' | 'timeouts'> & { readonly name: string },
  stopping: AbortSignal,
  work: (em: EntityManager) => Promise<void>,
): Promise<void> {
  // The name tells this connection from those of other processes. The second connection cancels.
  const name = `${options.name} ${newId('wrk')}`
  const orm = await openOrm({ ...options, name, poolSize: 2 })
  let hasEnded = false
  const cancel = async (): Promise<void> => {
    // Repeated, because one that arrives between two statements cancels nothing.
    while (!hasEnded) {
      await cancelStatements(orm.em.fork(), name).catch(() => {})
      await sleep(REPEATED_AFTER)
    }
  }
  let canceling = Promise.resolve()
  const onStop = (): void => {
    canceling = cancel()
  }
  stopping.addEventListener('abort', onStop)
  try {
    await work(orm.em.fork())
  } catch (error) {
    if (!stopping.aborted) throw error
  } finally {
    hasEnded = true
    stopping.removeEventListener('abort', onStop)
    await canceling
    await orm.close()
  }
}

async function cancelStatements(em: EntityManager, name: string): Promise<void> {
  await statement(
    em,
    'cancel-statements',
    `select pg_cancel_backend(pid) from pg_stat_activity
      where application_name = ? and state = 'active' and pid <> pg_backend_pid()`,
    [name],
  )
}
