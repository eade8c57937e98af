import { addDuration, parseDuration } from '../../billing/durations.ts'
import { settleOrder } from '../../billing/order-lifecycle.ts'
import { earliestStart, type Period } from '../../billing/periods.ts'
import { Customer, Organization, Plan, Subscription, Website } from '../entities/index.ts'
import { newId } from '../ids.ts'
import { orderState } from '../order-state.ts'
import { references } from '../references.ts'
import { subscriptionEvent } from '../subscription-events.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

export interface NewSubscription {
  readonly customerId: string
  readonly websiteId: string
  readonly items: readonly { readonly plan: { readonly id: string }; readonly quantity: number }[]
  /** null: now. */
  readonly startTime: Date | null
  /** null: by the organization's time to live for pending orders. */
  readonly abandonTime: Date | null
  readonly autopay: boolean
  readonly notes: string | null
  readonly poNumber: string | null
  readonly customFields: Record<string, unknown> | null
}

/**
 * Places an order: `pending` until its service period begins (specification 2.6 and 3). Emits `subscription-created`
 * and wakes the subscription workflow.
 *
 * @throws InvalidFieldsError naming every member that refers to nothing or breaks a rule of times or plans.
 */
export async function createSubscription(
  unit: UnitOfWork,
  id: string,
  given: NewSubscription,
): Promise<Subscription> {
  const { em, organizationId, now } = unit
  const found = references(unit)
  await found.required(Customer, 'customerId', given.customerId)
  await found.required(Website, 'websiteId', given.websiteId)
  const plans: (Plan | null)[] = []
  for (const [index, item] of given.items.entries()) {
    plans.push(await found.required(Plan, `items.${index}.plan.id`, item.plan.id))
  }
  const [first] = plans
  for (const [index, plan] of plans.entries()) {
    if (plan === null || first === null || first === undefined) continue
    if (plan.currency !== first.currency) {
      found.fail(
        `items.${index}.plan.id`,
        `all plans of an order share one currency; the first one's is ${first.currency}`,
      )
    }
    if (!samePeriod(plan.recurringInterval, first.recurringInterval)) {
      found.fail(`items.${index}.plan.id`, 'all plans of an order share one service period')
    }
  }
  const startTime = given.startTime ?? now
  if (
    first !== null &&
    first !== undefined &&
    startTime.getTime() < earliestStart(now.getTime(), first.recurringInterval)
  ) {
    found.fail('startTime', 'must not be more than one service period in the past')
  }
  if (given.abandonTime !== null && given.abandonTime.getTime() <= now.getTime()) {
    found.fail('abandonTime', 'must be in the future')
  }
  found.check()
  if (first === null || first === undefined) throw new Error('an order without items passed validation')

  const order = em.create(Subscription, {
    organizationId,
    id,
    customerId: given.customerId,
    websiteId: given.websiteId,
    items: given.items.map((item, index) => {
      const plan = plans[index] ?? first
      const { revision, currency, pricing, recurringInterval } = plan
      return { id: newId('item'), ...item, priced: { revision, currency, pricing, recurringInterval } }
    }),
    status: 'pending',
    currency: first.currency,
    startTime,
    abandonTime: given.abandonTime ?? (await defaultAbandonTime(unit, startTime)),
    autopay: given.autopay,
    notes: given.notes,
    poNumber: given.poNumber,
    customFields: given.customFields,
    clockOffset: 0,
    revision: 1,
    createdTime: now,
    updatedTime: now,
  })
  // Due already or not, the first deadline is known: the sweep finds the order even if every wake-up is lost.
  order.nextDeadline = instantOrNull(settleOrder(orderState(order), Number.NEGATIVE_INFINITY).next)
  em.persist(order)
  unit.emit(subscriptionEvent(order, 'subscription-created', now, unit.baseUrl))
  unit.wake('subscription', order.id)
  return order
}

/** The organization's time to live for pending orders, counted from the later of creation and start; null: never. */
async function defaultAbandonTime(
  { em, organizationId, now }: UnitOfWork,
  startTime: Date,
): Promise<Date | null> {
  const { settings } = await em.findOneOrFail(Organization, { id: organizationId })
  const ttl = parseDuration(settings.billing?.pendingOrderTtl ?? '')
  return ttl === null ? null : new Date(addDuration(Math.max(startTime.getTime(), now.getTime()), ttl))
}

function samePeriod(a: Period, b: Period): boolean {
  return a.unit === b.unit && a.length === b.length
}

function instantOrNull(instant: number | null): Date | null {
  return instant === null ? null : new Date(instant)
}
