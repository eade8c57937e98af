import type { Subscription } from '../../db/entities/index.ts'

/**
 * Keeps the time on the row: the instant, or the last event's time if the result of an earlier charge is
 * recorded after it. So of two events of an order the later revision never has the earlier time.
 */
export function eventTime(row: Pick<Subscription, 'lastEventTime'>, instant: number): Date {
  const time = new Date(Math.max(instant, row.lastEventTime?.getTime() ?? instant))
  row.lastEventTime = time
  return time
}
