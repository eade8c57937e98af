import { canonicalJson } from '../../billing/canonical-json.ts'
import { ConflictError } from '../../billing/errors.ts'
import type { InvoiceLine } from '../../billing/invoices.ts'
import { changeItems, type ItemsChange } from '../../billing/item-changes.ts'
import { changeTerms } from '../../billing/order-commands.ts'
import { raiseRevisionOnce } from '../../db/change-row.ts'
import type { Subscription } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { subscriptionEvent } from '../../events/order-events.ts'
import { refundUndelivered } from '../payments/refund-sales.ts'
import { references } from '../references.ts'
import { advanceForCommand, scheduleAfter, wakeOrder } from './advance-order.ts'
import { applyTransitions } from './apply-transitions.ts'
import { pricedItems, type SubscriptionItem } from './create-order.ts'
import { eventTime } from './event-time.ts'
import { orderInstant } from './order-instant.ts'
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
  found.check()
  if (!CHANGEABLE.has(row.status)) {
    throw new ConflictError(`The items of an order that is ${row.status} cannot be changed.`)
  }
  const areSame = canonicalJson(items) === canonicalJson(row.items)
  if (areSame && renewalPolicy === 'retain') return []
  row.items = items
  row.currency = items[0]?.priced.currency ?? row.currency
  await taxAnew(unit, record)
  const before = record.order
  const changed = { terms: orderTerms(row, record.charging, record.redeemed), prorated, renewalPolicy }
  applyTransitions(unit, record, [
    row.status === 'pending'
      ? changeTerms(before, instant, changed.terms)
      : changeItems(before, instant, changed),
  ])
  await refundUndelivered(unit, [record])
  scheduleAfter(record, instant)
  raiseRevisionOnce(row, unit, record)
  unit.emit(subscriptionEvent(row, 'subscription-modified', eventTime(row, instant), unit.baseUrl))
  wakeOrder(unit, row)
  const made = record.order.invoices.find(({ sequence }) => sequence >= before.nextInvoice)
  return made?.lines ?? record.order.queue
}

const CHANGEABLE: ReadonlySet<Subscription['status']> = new Set(['pending', 'active', 'paused'])
