import type { Subscription } from '../../db/entities/index.ts'

/**
 * Returns the time of an event at an instant of a locked order's clock, and keeps it on the row: the instant, or that of
 * the last event where the result of an earlier charge is recorded after it. So of two events of an order or of one of its
 * invoices the later revision never has the earlier time.
 */
export function eventTime(row: Subscription, instant: number): Date {
  const time = new Date(Math.max(instant, row.lastEventTime?.getTime() ?? instant))
  row.lastEventTime = time
  return time
}
