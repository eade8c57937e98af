/** Each reminder is sent once. One whose time had passed when its instant became known is not sent. */
import { type Duration, reach } from './durations.ts'
import { type Change, emit, type Order, renewalTime, set } from './order.ts'

export const REMINDER_KINDS = ['renewal', 'trialEnd', 'abandon'] as const
export type ReminderKind = (typeof REMINDER_KINDS)[number]

const EVENTS = {
  renewal: 'subscription-renewal-reminder',
  trialEnd: 'subscription-trial-end-reminder',
  abandon: 'order-abandon-reminder',
} as const

export interface Reminder {
  readonly kind: ReminderKind
  readonly at: number
}

export function nextReminder(order: Order): Reminder | null {
  const ahead = whatIsAhead(order)
  if (ahead === null) return null
  const times = order.terms.reminders[ahead.kind].flatMap(
    (before: Duration) => reach(ahead.at, before, -1) ?? [],
  )
  const left = times.filter((time) => time >= order.remindersFrom && time < ahead.at)
  return left.length === 0 ? null : { kind: ahead.kind, at: Math.min(...left) }
}

export function remind(change: Change, { kind, at }: Reminder): void {
  const { remindersSent } = change.order
  set(change, { remindersFrom: at + 1, remindersSent: { ...remindersSent, [kind]: remindersSent[kind] + 1 } })
  emit(change, EVENTS[kind])
}

function whatIsAhead(order: Order): Reminder | null {
  const { status, inTrial, terms } = order
  if (status === 'pending')
    return terms.abandonTime === null ? null : { kind: 'abandon', at: terms.abandonTime }
  const at = renewalTime(order)
  return at === null ? null : { kind: inTrial ? 'trialEnd' : 'renewal', at }
}
