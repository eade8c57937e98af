import type { Static } from 'typebox'
import type { InvoiceTimeShift, RecurringInterval, TimeShift } from '../../billing/order-terms.ts'
import type { InvoiceTimeShiftSchema, RecurringIntervalSchema } from '../schemas/billing-terms.ts'

type GivenInterval = Partial<Pick<Static<typeof RecurringIntervalSchema>, 'unit' | 'length' | 'limit'>>

/** Returns the interval of a checked body; null for none, and for one without a period. */
export function intervalOf(body: GivenInterval | null | undefined): RecurringInterval | null {
  return body?.unit == null || body.length == null
    ? null
    : { unit: body.unit as RecurringInterval['unit'], length: body.length, limit: body.limit ?? null }
}

export function timeShiftOf(
  body: Static<typeof InvoiceTimeShiftSchema> | null | undefined,
): InvoiceTimeShift | null {
  return body == null
    ? null
    : {
        issueTimeShift: shiftOf('before', body.issueTimeShift),
        dueTimeShift: shiftOf('after', body.dueTimeShift),
      }
}

function shiftOf(
  chronology: TimeShift['chronology'],
  body: { duration: number; unit: string } | null | undefined,
): TimeShift | null {
  return body == null ? null : { chronology, duration: body.duration, unit: body.unit as TimeShift['unit'] }
}
