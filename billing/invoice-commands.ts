import { ConflictError, type InvalidField, InvalidFieldsError } from './errors.ts'
import { orNever } from './instants.ts'
import { dueAt, type Invoice, isOpen } from './invoices.ts'
import {
  changeInvoice,
  emit,
  endInvoice,
  hasNextPeriod,
  isComing,
  isServed,
  issueInterim,
  issueRenewal,
  isWithoutService,
  keepCredit,
  type Order,
  type Transition,
  transition,
} from './order.ts'
import { requireNoCharge } from './order-payments.ts'
import { isPostpaid } from './order-terms.ts'
import { queuedDebits } from './proration.ts'

/**
 * Gives up an open invoice: it is never charged or past due, and never cancels its order (decisions 6.3). Its period is not
 * invoiced again, whether it has begun or not.
 * @throws ConflictError for one not open or being charged, and for the first of a pending order.
 */
export function abandonInvoice(order: Order, at: number, sequence: number): Transition {
  const invoice = openInvoice(order, sequence, 'abandoned')
  if (order.status === 'pending' && invoice.type === 'initial') {
    throw new ConflictError('The order has not begun. Void the order instead of its first invoice.')
  }
  return transition(order, at, 'api', (change) => {
    endInvoice(change, sequence, 'abandoned')
    keepCredit(change)
  })
}

/**
 * Moves the due time; null: as long from now as it was from the issue. The delinquency time moves along; number,
 * issue time, amounts and planned charges stay (decisions 6.3).
 * @throws ConflictError for one not open or being charged; InvalidFieldsError for a due time that is not ahead, or before
 * the start or the boundary at which it is charged.
 */
export function reissueInvoice(
  order: Order,
  at: number,
  sequence: number,
  dueTime: number | null,
): Transition {
  const invoice = openInvoice(order, sequence, 'reissued')
  const known = invoice.dueTime ?? at
  const moved = orNever(at + known - (invoice.issuedTime ?? known)) ?? known
  if (dueTime !== null && dueTime <= at) {
    throw new InvalidFieldsError([
      { field: 'dueTime', code: 'in-the-past', message: 'must be in the future' },
    ])
  }
  const start = startOfService(order, invoice)
  if (dueTime !== null && start !== null && dueTime < start) {
    throw new InvalidFieldsError([{ field: 'dueTime', code: 'out-of-range', message: NOT_BEFORE_PERIOD }])
  }
  const due = dueTime ?? Math.max(moved, start ?? moved)
  return transition(order, at, 'api', (change) => {
    changeInvoice(change, sequence, dueAt(invoice, due, at))
    emit(change, 'invoice-reissued', { invoice: sequence })
  })
}

/**
 * Issues the next renewal invoice before its time; it is charged at the boundary nevertheless. null: it is issued now, and due
 * as the terms have it.
 * @throws ConflictError where no renewal can be billed ahead: it is billed already, or each period when it ends.
 * @throws InvalidFieldsError for an issue ahead or before the current period, and a due time before the next one.
 */
export function issueUpcoming(
  order: Order,
  at: number,
  given: { readonly issuedTime: number | null; readonly dueTime: number | null },
): Transition {
  const { terms, rebillNumber, periodStart, periodEnd, invoicedThrough, notBefore } = order
  const isInService = order.status === 'active' || isServed(order)
  if (
    !isInService ||
    isPostpaid(terms) ||
    rebillNumber === null ||
    periodEnd === null ||
    !hasNextPeriod(order)
  )
    throw new ConflictError('The order has no upcoming invoice that can be issued now.')
  if (invoicedThrough > rebillNumber) throw new ConflictError('The next renewal is invoiced already.')
  const boundary = Math.max(periodEnd, at)
  const { issuedTime, dueTime } = { issuedTime: given.issuedTime ?? at, dueTime: given.dueTime ?? boundary }
  const problems = [
    ...outOfRange('issuedTime', issuedTime > at, 'must not be in the future'),
    ...outOfRange(
      'issuedTime',
      issuedTime < Math.min(at, periodStart ?? at),
      'must not be before the current period',
    ),
    ...outOfRange(
      'issuedTime',
      issuedTime >= (periodStart ?? at) && issuedTime < Math.min(at, notBefore),
      'must not be before the last change of the period',
    ),
    ...outOfRange('dueTime', dueTime < boundary, NOT_BEFORE_PERIOD),
  ]
  if (problems.length > 0) throw new InvalidFieldsError(problems)
  return transition(order, at, 'api', (change) => {
    const sequence = order.nextInvoice
    issueRenewal(change, rebillNumber + 1, periodEnd)
    changeInvoice(change, sequence, { issuedTime })
    const invoice = change.order.invoices.find((one) => one.sequence === sequence)
    if (given.dueTime === null || invoice === undefined || !isOpen(invoice)) return
    changeInvoice(change, sequence, dueAt(invoice, dueTime, at))
  })
}

const NOT_BEFORE_PERIOD = 'must not be before the invoiced period begins'

/** Returns when the service begins that the invoice is charged for; null: it has begun. */
function startOfService(order: Order, invoice: Invoice): number | null {
  if (order.status === 'pending') return order.terms.startTime
  return isComing(order, invoice) ? invoice.periodStart : null
}

function outOfRange(field: string, isWrong: boolean, message: string): InvalidField[] {
  return isWrong ? [{ field, code: 'out-of-range', message }] : []
}

/**
 * Invoices at once what is queued for the next invoice, also once service has ended: that invoice never cancels the order.
 * @throws ConflictError if nothing that is owed is queued, and for an order that is paused or has not begun.
 */
export function invoiceQueue(order: Order, at: number): Transition {
  const hasEnded = isWithoutService(order)
  if (order.status !== 'active' && !isServed(order) && !hasEnded)
    throw new ConflictError(`An order that is ${order.status} cannot be invoiced between renewals.`)
  if (queuedDebits(order.queue).length === 0)
    throw new ConflictError('The order has no queued charges to invoice.')
  return transition(order, at, 'api', (change) => {
    const sequence = issueInterim(change, [])
    if (hasEnded) changeInvoice(change, sequence, { delinquencyTime: null })
  })
}

function openInvoice(order: Order, sequence: number, wanted: string): Invoice {
  const invoice = order.invoices.find((one) => one.sequence === sequence)
  if (invoice === undefined || !isOpen(invoice)) {
    throw new ConflictError(
      `The invoice is not open: only one that is unpaid, past due or partially paid can be ${wanted}.`,
    )
  }
  requireNoCharge(invoice)
  return invoice
}
