import { type Duration, parseDuration } from '../../billing/durations.ts'
import { ConflictError, InvalidFieldsError } from '../../billing/errors.ts'
import { abandonInvoice, invoiceQueue, issueUpcoming } from '../../billing/invoice-commands.ts'
import { changeItems } from '../../billing/item-changes.ts'
import { type Order, placeOrder, type Transition, transition } from '../../billing/order.ts'
import {
  cancelOrder,
  changeCancellation,
  changeTerms,
  moveRenewal,
  reactivateOrder,
  takeTerms,
  voidInvoice,
  voidOrder,
} from '../../billing/order-commands.ts'
import { advanceBefore, advanceThrough } from '../../billing/order-lifecycle.ts'
import {
  beginCallersCharge,
  changeAutopay,
  chargeOpen,
  creditInvoice,
  payInvoice,
  receivePayment,
} from '../../billing/order-payments.ts'
import {
  agreedTerms,
  NO_REMINDERS,
  type OrderTerms,
  type PricedItem,
  type PricedPlan,
} from '../../billing/order-terms.ts'
import { changePauseTimes, pauseOrder, removePause } from '../../billing/pauses.ts'
import { type Period, type PeriodAnchor, WEEKDAYS } from '../../billing/periods.ts'
import { grossAmount } from '../../billing/proration.ts'
import fc from '../support/fast-check.ts'

export const at = (text: string): number => Date.parse(text.includes('T') ? text : `${text}T00:00:00Z`)
export const day = (instant: number | null): string | null =>
  instant === null ? null : new Date(instant).toISOString().slice(0, 10)

export const MONTHLY: PricedPlan = {
  id: 'monthly',
  name: 'Monthly',
  currency: 'EUR',
  pricing: { formula: 'flat-rate', price: '9.9' },
  recurringInterval: { unit: 'month', length: 1, limit: null },
  trial: null,
  isTrialOnly: false,
  setup: null,
  invoiceTimeShift: null,
}

export const NO_CHOICES = { trial: null, isTrialOnly: false, recurringInterval: null, invoiceTimeShift: null }

export function terms(plan: Partial<PricedPlan> = {}, members: Partial<OrderTerms> = {}): OrderTerms {
  const priced = { ...MONTHLY, ...plan }
  const createdTime = members.createdTime ?? at('2027-01-31')
  return {
    currency: 'EUR',
    createdTime,
    startTime: createdTime,
    abandonTime: null,
    items: [{ id: 'item', quantity: 1, plan: priced }],
    ...agreedTerms([priced], NO_CHOICES),
    delinquencyPeriod: null,
    shipping: null,
    coupons: [],
    canCharge: false,
    instrumentId: null,
    autopayRetries: [],
    paydays: [],
    declinedRenewalsLimit: null,
    reminders: NO_REMINDERS,
    ...members,
  }
}

export function oneTimeSale(id: string, price: string): PricedItem {
  const pricing = { formula: 'flat-rate' as const, price }
  return { id, quantity: 1, plan: { ...MONTHLY, name: 'Sale', pricing, recurringInterval: null } }
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = at('2027-01-31')

// None is shorter than two weeks, so that a year of any order is a few dozen transitions.
const periods = fc.constantFrom(
  { unit: 'day' as const, length: 17 },
  { unit: 'week' as const, length: 2 },
  { unit: 'month' as const, length: 1 },
  { unit: 'month' as const, length: 3 },
  { unit: 'year' as const, length: 1 },
)
const prices = fc.integer({ min: 0, max: 5_000 }).map((cents) => (cents / 100).toString())
const plans: fc.Arbitrary<PricedPlan> = fc
  .record({
    interval: fc.option(fc.record({ limit: fc.option(fc.integer({ min: 1, max: 4 })) })),
    period: periods,
    trial: fc.option(fc.record({ price: prices, period: periods }), { freq: 2 }),
    price: prices,
    setup: fc.option(fc.record({ price: prices })),
    early: fc.option(fc.integer({ min: 1, max: 40 }), { freq: 2 }),
    isPostpaid: fc.boolean(),
    dayOfMonth: fc.option(fc.integer({ min: 1, max: 31 }), { freq: 1 }),
    dayOfWeek: fc.option(fc.constantFrom(...WEEKDAYS), { freq: 1 }),
  })
  .map(({ interval, period, trial, price, setup, early, isPostpaid, dayOfMonth, dayOfWeek }) => ({
    ...MONTHLY,
    pricing: { formula: 'flat-rate' as const, price },
    recurringInterval:
      interval === null
        ? null
        : {
            ...period,
            ...interval,
            ...(isPostpaid ? { billingTiming: 'postpaid' as const } : {}),
            periodAnchorInstruction: anchorOf(period, dayOfMonth, dayOfWeek),
          },
    trial,
    setup,
    invoiceTimeShift: early === null ? null : issuedEarly(early),
  }))

export function issuedEarly(days: number): NonNullable<OrderTerms['invoiceTimeShift']> {
  return { issueTimeShift: { chronology: 'before', duration: days, unit: 'day' }, dueTimeShift: null }
}

const reminders = fc.array(
  fc.constantFrom('PT1H', 'P3D', 'P17D', 'P1M').map((text) => parseDuration(text) as Duration),
  { maxLength: 2 },
)

function anchorOf(
  { unit }: Period,
  dayOfMonth: number | null,
  dayOfWeek: (typeof WEEKDAYS)[number] | null,
): PeriodAnchor | null {
  if (unit === 'week') return dayOfWeek === null ? null : { method: 'day-of-week', day: dayOfWeek }
  if (unit === 'day' || dayOfMonth === null) return null
  return { method: 'day-of-month', day: dayOfMonth }
}

const coupons: fc.Arbitrary<OrderTerms['coupons']> = fc.array(
  fc
    .record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      discount: fc.oneof(
        fc.integer({ min: 1, max: 100 }).map((share) => ({ type: 'percent' as const, value: String(share) })),
        prices.map((amount) => ({ type: 'fixed' as const, amount, currency: 'EUR' })),
      ),
      expiresIn: fc.option(fc.integer({ min: -10, max: 300 })),
      limit: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 2 }),
      paidIn: fc.option(fc.integer({ min: 1, max: 100 }), { freq: 1 }),
    })
    .map(({ id, discount, expiresIn, limit, paidIn }) => ({
      couponId: id,
      redemptionId: `redemption of ${id}`,
      description: id,
      discount,
      restrictions: [
        ...(limit === null ? [] : [{ type: 'discounts-per-redemption' as const, quantity: limit }]),
        ...(paidIn === null
          ? []
          : [{ type: 'paid-by-time' as const, time: new Date(START + paidIn * DAY).toISOString() }]),
      ],
      expiredTime: expiresIn === null ? null : START + expiresIn * DAY,
      discountsBefore: 0,
    })),
  { maxLength: 3 },
)

export const anyTerms: fc.Arbitrary<OrderTerms> = fc
  .record({
    plan: plans,
    quantity: fc.integer({ min: 1, max: 3 }),
    startsIn: fc.integer({ min: -1, max: 40 }),
    abandonsIn: fc.option(fc.integer({ min: 1, max: 60 }), { freq: 1 }),
    delinquency: fc.constantFrom(null, 'P3D', 'P20D', 'P2M'),
    shipping: fc.option(prices),
    reminders: fc.record({ renewal: reminders, trialEnd: reminders, abandon: reminders }),
    coupons,
    paydays: fc.constantFrom([], [], [1, 15], [31]),
    declinedRenewalsLimit: fc.constantFrom(null, 1, 2, 3),
  })
  .map(({ plan, quantity, startsIn, abandonsIn, delinquency, shipping, ...settings }) =>
    terms(plan, {
      createdTime: START,
      startTime: START + startsIn * DAY,
      abandonTime: abandonsIn === null ? null : START + abandonsIn * DAY,
      delinquencyPeriod: delinquency === null ? null : parseDuration(delinquency),
      items: [{ id: 'item', quantity, plan }],
      shipping,
      ...settings,
    }),
  )

/** A refused command changes nothing. */
export interface Command {
  readonly at: number
  readonly act: (order: Order, at: number) => Transition
}

const days = fc.integer({ min: 0, max: 90 })
const acts: fc.Arbitrary<Command['act']> = fc.oneof(
  days.map(
    (churnsIn): Command['act'] =>
      (order, now) =>
        changeCancellation(
          order,
          now,
          { canceledBy: 'customer', reason: null, description: null },
          { churnTime: now + churnsIn * DAY, churnTimePolicy: null },
        ),
  ),
  fc
    .tuple(
      fc.option(days),
      fc.constantFrom(null, null, 'now' as const, 'at-next-renewal' as const),
      fc.boolean(),
    )
    .map(
      ([churnsIn, churnTimePolicy, prorated]): Command['act'] =>
        (order, now) =>
          cancelOrder(order, now, {
            churnTime: churnsIn === null ? null : now + churnsIn * DAY,
            churnTimePolicy,
            canceledBy: 'merchant',
            reason: null,
            description: null,
            prorated,
          }),
    ),
  fc
    .record({
      price: prices,
      quantity: fc.integer({ min: 1, max: 3 }),
      prorated: fc.boolean(),
      renewalPolicy: fc.constantFrom('retain' as const, 'reset' as const),
    })
    .map(({ price, quantity, ...policy }): Command['act'] => (order, now) => {
      const items = order.terms.items.map((item) => ({
        ...item,
        quantity,
        plan: { ...item.plan, pricing: { formula: 'flat-rate' as const, price } },
      }))
      return changeItems(order, now, { terms: { ...order.terms, items }, ...policy })
    }),
  fc.tuple(fc.option(days), fc.boolean()).map(([renewsIn, isNew]): Command['act'] => (order, now) => {
    const given = isNew ? withInstrument(order, `given-${now}`) : order
    return reactivateOrder(given, now, renewsIn === null ? null : now + renewsIn * DAY, isNew)
  }),
  fc.tuple(days, fc.option(days), fc.option(days, { freq: 1 })).map(
    ([from, through, remaining]): Command['act'] =>
      (order, now) =>
        pauseOrder(order, now, {
          id: `pause-${order.pauses.length + 1}`,
          effectiveTime: now + from * DAY,
          endTime: through === null ? null : now + (from + through) * DAY,
          timeRemaining: remaining === null ? null : remaining * DAY + HOUR,
        }),
  ),
  fc.tuple(fc.integer({ min: -5, max: 20 }), days).map(([later, until]): Command['act'] => (order, now) => {
    const id = `pause-${order.pauses.length}`
    const pause = order.pauses.find((one) => one.id === id)
    return changePauseTimes(order, now, id, {
      effectiveTime: (pause?.effectiveTime ?? now) + Math.max(0, later) * DAY,
      endTime: now + until * DAY,
      timeRemaining: pause?.timeRemaining ?? null,
    })
  }),
  fc.constant<Command['act']>((order, now) => removePause(order, now, `pause-${order.pauses.length}`)),
  fc.constant<Command['act']>((order, now) => voidOrder(order, now)),
  fc.constant<Command['act']>((order, now) => chargeOpen(order, now)),
  fc.constant<Command['act']>((order, now) => chargeOpen(withInstrument(order, `default-${now}`), now)),
  fc.constant<Command['act']>((order, now) =>
    changeAutopay(order, now, withInstrument(order, `own-${now}`).terms, true, true),
  ),
  days.map(
    (ahead): Command['act'] =>
      (order, now) =>
        changeTerms(order, now, { ...order.terms, startTime: now + ahead * DAY }),
  ),
  coupons.map((changed): Command['act'] => (order, now) => {
    const agreed = { ...order.terms, coupons: changed }
    if (order.status === 'pending') return changeTerms(order, now, agreed)
    return changeItems(order, now, { terms: agreed, prorated: false, renewalPolicy: 'retain' })
  }),
  days.map(
    (ahead): Command['act'] =>
      (order, now) =>
        moveRenewal(order, now, now + ahead * DAY) ?? transition(order, now, 'api', () => {}),
  ),
  fc.option(fc.integer({ min: 1, max: 40 })).map((early): Command['act'] => (order, now) => {
    const agreed = { ...order.terms, invoiceTimeShift: early === null ? null : issuedEarly(early) }
    return order.status === 'pending' ? changeTerms(order, now, agreed) : takeTerms(order, now, agreed)
  }),
  fc.tuple(prices, fc.integer({ min: 1, max: 2 })).map(([part, back]): Command['act'] => (order, now) => {
    const sequence = order.nextInvoice - back
    return receivePayment(beginCallersCharge(order, now, sequence).order, now, sequence, part).transition
  }),
  fc.tuple(prices, fc.integer({ min: 1, max: 2 })).map(([left, back]): Command['act'] => (order, now) => {
    const memo = { creditMemoId: `memo ${order.credit.length + 1}`, currency: 'EUR', left }
    const credited = { ...order, credit: [...order.credit, memo] }
    return creditInvoice(credited, now, order.nextInvoice - back, [memo]).transition
  }),
  fc.tuple(prices, fc.boolean()).map(([price, prorated]): Command['act'] => (order, now) => {
    const items = [...order.terms.items, oneTimeSale(`sale ${order.terms.items.length}`, price)]
    return changeItems(order, now, { terms: { ...order.terms, items }, prorated, renewalPolicy: 'retain' })
  }),
  fc.constant<Command['act']>((order, now) => voidInvoice(order, now, order.nextInvoice - 1)),
  fc.integer({ min: 1, max: 2 }).map(
    (back): Command['act'] =>
      (order, now) =>
        abandonInvoice(order, now, order.nextInvoice - back),
  ),
  fc.constant<Command['act']>((order, now) => issueUpcoming(order, now, { issuedTime: null, dueTime: null })),
  fc.constant<Command['act']>((order, now) => invoiceQueue(order, now)),
  fc.constant<Command['act']>((order, now) => {
    const sequence = order.nextInvoice - 1
    return payInvoice(beginCallersCharge(order, now, sequence).order, now, sequence)
  }),
)

/** Cancels as a merchant does; null: at once. */
export const cancelAt =
  (churnTime: number | null): Command['act'] =>
  (order, now) =>
    cancelOrder(order, now, {
      churnTime,
      churnTimePolicy: null,
      canceledBy: 'merchant',
      reason: null,
      description: null,
    })

/** The order as it is read once there is another instrument to charge. */
export function withInstrument(order: Order, instrumentId: string): Order {
  return { ...order, terms: { ...order.terms, instrumentId } }
}

/** Up to a dozen commands over ten months, oldest first. */
export const anyCommands: fc.Arbitrary<Command[]> = fc
  .array(
    fc.record({ at: fc.integer({ min: 0, max: 300 * 24 }).map((hour) => START + hour * HOUR), act: acts }),
    {
      maxLength: 12,
    },
  )
  .map((commands) => commands.sort((a, b) => a.at - b.at))

export const END = START + 400 * DAY

/** Adds the memos that transitions made, as the order is read after them. */
function withMemos(order: Order, transitions: readonly Transition[]): Order {
  const made = transitions.flatMap(({ events }) =>
    events.flatMap(({ type, credit }) => (type === 'credit-memo-created' ? [credit ?? []] : [])),
  )
  const memos = made.map((lines, index) => ({
    creditMemoId: `memo of the order ${order.credit.length + index + 1}`,
    currency: order.terms.currency,
    left: grossAmount(lines).negated().toFixed(),
    isOfOrder: true as const,
  }))
  return memos.length === 0 ? order : { ...order, credit: [...order.credit, ...memos] }
}

/** Applies the commands, and a timer that fires at the given instants. `keepsMemos`: the order has its own memos too. */
export function live(
  agreed: OrderTerms,
  commands: readonly Command[],
  looks: readonly number[] = [],
  keepsMemos = false,
): { order: Order; transitions: Transition[] } {
  const placed = placeOrder(agreed)
  const transitions = [placed]
  let order = placed.order
  const take = (advance: ReturnType<typeof advanceThrough>): void => {
    transitions.push(...advance.transitions)
    order = keepsMemos ? withMemos(advance.order, advance.transitions) : advance.order
  }
  const instants = [...commands, ...looks.map((look) => ({ at: look, act: null }))].sort(
    (a, b) => a.at - b.at || (a.act === null ? 1 : 0) - (b.act === null ? 1 : 0),
  )
  for (const { at: now, act } of instants) {
    if (act === null) {
      take(advanceThrough(order, now))
      continue
    }
    take(advanceBefore(order, now))
    try {
      const made = act(order, now)
      transitions.push(made)
      order = keepsMemos ? withMemos(made.order, [made]) : made.order
    } catch (error) {
      if (!(error instanceof ConflictError || error instanceof InvalidFieldsError)) throw error
    }
  }
  take(advanceThrough(order, END))
  return { order, transitions: transitions }
}
