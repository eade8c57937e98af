import type { Static } from 'typebox'
import { type FieldCode, type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import type {
  InvoiceTimeShift,
  OrderInterval,
  RecurringInterval,
  TimeShift,
} from '../../billing/order-terms.ts'
import { type PeriodAnchor, WEEKDAYS } from '../../billing/periods.ts'
import type { InvoiceTimeShiftSchema, RecurringIntervalSchema } from '../schemas/billing-terms.ts'

type GivenInterval = Partial<Static<typeof RecurringIntervalSchema>>
type GivenAnchor = GivenInterval['periodAnchorInstruction']

/** Returns null without a period. Throws InvalidFieldsError for a nonexistent day, or one without a period. */
export function intervalOf(body: GivenInterval | null | undefined): RecurringInterval | null {
  const anchor = anchorOf(body?.periodAnchorInstruction)
  const isPostpaid = body?.billingTiming === 'postpaid'
  if (body?.unit == null || body.length == null) {
    if (anchor !== null || isPostpaid || body?.limit != null)
      refuse('unit', 'required', 'is required with a day, a limit or a billing timing')
    return null
  }
  return {
    unit: body.unit as RecurringInterval['unit'],
    length: body.length,
    limit: body.limit ?? null,
    ...(isPostpaid ? { billingTiming: 'postpaid' } : {}),
    ...(anchor === null ? {} : { periodAnchorInstruction: anchor }),
  }
}

/** As `intervalOf`, of an order: with a day or a limit alone, the period is that of its plans. */
export function orderIntervalOf(body: GivenInterval | null | undefined): OrderInterval | null {
  const { unit, limit, billingTiming, periodAnchorInstruction } = body ?? {}
  if (unit != null || billingTiming === 'postpaid') return intervalOf(body)
  if (limit == null && periodAnchorInstruction == null) return null
  return {
    ...(limit == null ? {} : { limit }),
    ...(periodAnchorInstruction == null
      ? {}
      : { periodAnchorInstruction: anchorOf(periodAnchorInstruction) }),
  }
}

export function intervalProblems(body: GivenInterval | null | undefined): readonly InvalidField[] {
  try {
    intervalOf(body)
    return []
  } catch (error) {
    if (error instanceof InvalidFieldsError) return error.fields
    throw error
  }
}

function anchorOf(given: GivenAnchor): PeriodAnchor | null {
  if (given == null || given.method === 'immediately') return null
  const { method, day } = given
  const at = 'periodAnchorInstruction'
  if (method === 'day-of-month') {
    if (typeof day !== 'number') refuse(`${at}.day`, 'wrong-format', 'must be a day from 1 to 31')
    return { method, day }
  }
  const weekday = WEEKDAYS.find((name) => name === day)
  if (weekday === undefined) refuse(`${at}.day`, 'not-allowed', `must be one of ${WEEKDAYS.join(', ')}`)
  return { method: 'day-of-week', day: weekday }
}

function refuse(field: string, code: FieldCode, message: string): never {
  throw new InvalidFieldsError([{ field: `recurringInterval.${field}`, code, message }])
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
