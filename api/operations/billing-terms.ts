import type { Static } from 'typebox'
import type { InvoiceTimeShift, RecurringInterval, TimeShift } from '../../billing/order-terms.ts'
import type { InvoiceTimeShiftSchema, RecurringIntervalSchema } from '../schemas/billing-terms.ts'

export function intervalOf(
  body: Static<typeof RecurringIntervalSchema> | null | undefined,
): RecurringInterval | null {
  return body == null
    ? null
    : { unit: body.unit as RecurringInterval['unit'], length: body.length, limit: body.limit ?? null }
}

export function timeShiftOf(
  body: Static<typeof InvoiceTimeShiftSchema> | null | undefined,
): InvoiceTimeShift | null {
  return body == null
    ? null
    : { issueTimeShift: shiftOf(body.issueTimeShift), dueTimeShift: shiftOf(body.dueTimeShift) }
}

function shiftOf(
  body: { chronology: TimeShift['chronology']; duration: number; unit: string } | null | undefined,
): TimeShift | null {
  return body == null
    ? null
    : { chronology: body.chronology, duration: body.duration, unit: body.unit as TimeShift['unit'] }
}
