import { canonicalJson } from '../../billing/canonical-json.ts'
import { ConflictError } from '../../billing/errors.ts'
import { type InvoiceLine, isLive } from '../../billing/invoices.ts'
import { changeItems, type ItemsChange } from '../../billing/item-changes.ts'
import { Money } from '../../billing/money.ts'
import type { Transition } from '../../billing/order.ts'
import { changeTerms } from '../../billing/order-commands.ts'
import { raiseRevisionOnce } from '../../db/change-row.ts'
import type { Subscription } from '../../db/entities/index.ts'
import { MONEY_TAKEN } from '../../db/entities/transaction.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { subscriptionEvent } from '../../events/order-events.ts'
import { checkCoupons } from '../coupons/order-coupons.ts'
import { refundUndelivered } from '../payments/refund-sales.ts'
import { references } from '../references.ts'
import { advanceForCommand, scheduleAfter, wakeOrder } from './advance-order.ts'
import { applyTransitions } from './apply-transitions.ts'
import { pricedItems, type SubscriptionItem } from './create-order.ts'
import { eventTime } from './event-time.ts'
import { orderInstant } from './order-instant.ts'
import type { OrderRecord } from './order-record.ts'
import { readForOrder } from './order-references.ts'
import { recordOrderProblems } from './record-order-problems.ts'
import { orderTerms } from './rows-to-order.ts'
import { checkKept, taxAnew } from './update-order.ts'

export interface GivenItemsChange extends Omit<ItemsChange, 'terms'> {
  readonly items: readonly SubscriptionItem[]
}

/**
 * Changes the items of a locked order; a pending one is priced anew, whatever the policy. Returns the lines
 * of the invoice that the change makes, or else those that wait for one. Throws InvalidFieldsError,
 * ConflictError.
 */
export async function changeSubscriptionItems(
  unit: UnitOfWork,
  row: Subscription,
  { items: given, prorated, renewalPolicy }: GivenItemsChange,
): Promise<readonly InvoiceLine[]> {
  const instant = orderInstant(unit, row)
  const { customerId, websiteId, orderType, startTime, shipping = null } = row
  // It holds the customer, which comes before the credit memos of the record.
  const named = await readForOrder(unit, { customerId, websiteId, paymentInstrumentId: null, items: given })
  const record = await advanceForCommand(unit, row, instant)
  const found = references(unit)
  const items = await pricedItems(named.plans, found, given, row.items)
  const terms = {
    orderType,
    items: given,
    shipping,
    trial: row.trial ?? null,
    isTrialOnly: row.isTrialOnly,
    recurringInterval: row.recurringInterval ?? null,
    invoiceTimeShift: row.invoiceTimeShift ?? null,
  }
  const start = new Date(Math.max(startTime.getTime(), instant))
  recordOrderProblems(found, items, terms, { start, trialAfter: startTime, now: instant })
  checkKept(found, record, items, renewalPolicy)
  const currency = items[0]?.priced.currency ?? row.currency
  if (currency !== row.currency) {
    const { billingAddress = null, couponIds } = row
    const known = { couponIds, coupons: [...record.coupons.values()] }
    await checkCoupons(
      unit,
      found,
      { customerId, billingAddress, currency, order: null },
      couponIds,
      known,
      instant,
    )
  }
  found.check()
  if (!CHANGEABLE.has(row.status)) {
    throw new ConflictError(`The items of an order that is ${row.status} cannot be changed.`)
  }
  const areSame = canonicalJson(items) === canonicalJson(row.items)
  if (areSame && renewalPolicy === 'retain') return []
  row.items = items
  row.currency = currency
  await taxAnew(unit, record)
  const before = record.order
  const changed = { terms: orderTerms(row, record.charging, record.redeemed), prorated, renewalPolicy }
  const change =
    row.status === 'pending'
      ? changeTerms(before, instant, changed.terms)
      : changeItems(before, instant, changed)
  await requireRefundable(unit, record, change)
  applyTransitions(unit, record, [change])
  await refundUndelivered(unit, [record])
  scheduleAfter(record, instant)
  raiseRevisionOnce(row, unit, record)
  unit.emit(subscriptionEvent(row, 'subscription-modified', eventTime(row, instant), unit.baseUrl))
  wakeOrder(unit, row)
  const made = record.order.invoices.find(({ sequence }) => sequence >= before.nextInvoice)
  return made?.lines ?? record.order.queue
}

/**
 * What was paid outside of the service for an invoice that is issued anew would not go back by itself, and the period be paid
 * twice. @throws ConflictError that names it.
 */
async function requireRefundable(unit: UnitOfWork, record: OrderRecord, change: Transition): Promise<void> {
  const voided = change.order.invoices.filter(({ sequence, status }) => {
    const before = record.order.invoices.find((one) => one.sequence === sequence)
    const isPaid = before !== undefined && new Money(before.amountPaid).greaterThan(before.amountRefunded)
    return isPaid && isLive(before) && status === 'voided'
  })
  const ids = voided.flatMap(({ sequence }) => record.invoices.get(sequence)?.id ?? [])
  if (ids.length === 0) return
  const [external] = await statement<{ id: string }>(
    unit.em,
    'find-payment-outside',
    `select invoice.id from transactions sale, jsonb_array_elements_text(?::jsonb) invoice(id)
      where sale.organization_id = ? and sale.customer_id = ? and sale.type in (${MONEY_TAKEN}) and sale.gateway is null
        and (sale.payments ->> invoice.id)::numeric >
            (select coalesce(sum((refund.shares ->> invoice.id)::numeric), 0) from transactions refund
              where refund.organization_id = sale.organization_id and refund.parent_transaction_id = sale.id
                and refund.result = 'approved')
      order by invoice.id limit 1`,
    [JSON.stringify(ids), unit.organizationId, record.row.customerId],
  )
  if (external === undefined) return
  throw new ConflictError(
    `The invoice ${external.id} of the coming period was paid outside of the service. Refund it before this change, which bills the period anew.`,
  )
}

const CHANGEABLE: ReadonlySet<Subscription['status']> = new Set(['pending', 'active', 'paused'])
