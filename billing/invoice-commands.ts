import { ConflictError, InvalidFieldsError } from './errors.ts'
import { orNever } from './instants.ts'
import { type Invoice, isOpen } from './invoices.ts'
import {
  changeInvoice,
  dropCredit,
  emit,
  isComing,
  type Order,
  releaseCredit,
  type Transition,
  transition,
} from './order.ts'
import { requireNoCharge } from './order-payments.ts'

/**
 * Gives up an open invoice: it is never charged or past due, and never cancels its order (decisions 6.3).
 * @throws ConflictError for one not open or being charged, and for the first of a pending order.
 */
export function abandonInvoice(order: Order, at: number, sequence: number): Transition {
  const invoice = openInvoice(order, sequence, 'abandoned')
  if (order.status === 'pending' && invoice.type === 'initial') {
    throw new ConflictError('The order has not begun. Void the order instead of its first invoice.')
  }
  return transition(order, at, 'api', (change) => {
    if (isComing(order, invoice)) releaseCredit(change, sequence)
    changeInvoice(change, sequence, {
      status: 'abandoned',
      abandonedTime: at,
      delinquencyTime: null,
      chargeTime: null,
    })
    dropCredit(change, sequence)
    emit(change, 'invoice-abandoned', { invoice: sequence })
  })
}

/**
 * Moves the due time; null: as long from now as it was from the issue. The delinquency time moves along; number,
 * issue time, amounts and planned charges stay (decisions 6.3).
 * @throws ConflictError for one not open or being charged; InvalidFieldsError for a due time that is not ahead.
 */
export function reissueInvoice(
  order: Order,
  at: number,
  sequence: number,
  dueTime: number | null,
): Transition {
  const invoice = openInvoice(order, sequence, 'reissued')
  const known = invoice.dueTime ?? at
  const due = dueTime ?? orNever(at + known - (invoice.issuedTime ?? known)) ?? known
  if (dueTime !== null && dueTime <= at) {
    throw new InvalidFieldsError([
      { field: 'dueTime', code: 'in-the-past', message: 'must be in the future' },
    ])
  }
  const { status, delinquencyTime } = invoice
  return transition(order, at, 'api', (change) => {
    changeInvoice(change, sequence, {
      dueTime: due,
      status: status === 'past-due' ? 'unpaid' : status,
      delinquencyTime: delinquencyTime === null ? null : orNever(delinquencyTime + due - known),
    })
    emit(change, 'invoice-reissued', { invoice: sequence })
  })
}

function openInvoice(order: Order, sequence: number, wanted: string): Invoice {
  const invoice = order.invoices.find((one) => one.sequence === sequence)
  if (invoice === undefined || !isOpen(invoice)) {
    throw new ConflictError(`Only an issued invoice that is not yet paid can be ${wanted}.`)
  }
  requireNoCharge(invoice)
  return invoice
}
