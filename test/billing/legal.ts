/** What is true of every order, whatever happens to it: for property tests. */
import { expect } from '@jest/globals'
import { netAmount } from '../../billing/discounts.ts'
import { isHeld } from '../../billing/dunning.ts'
import { isOpen } from '../../billing/invoices.ts'
import { Money, sumOf } from '../../billing/money.ts'
import { isComing, isLastPeriod, type Order, type Transition } from '../../billing/order.ts'
import { isPostpaid } from '../../billing/order-terms.ts'
import { endOfPeriod } from '../../billing/periods.ts'

/** No period is billed twice and none is left out; boundaries strictly increase. */
export function expectPeriodsBilledOnce(order: Order, transitions: readonly Transition[]): void {
  const counted = order.invoices.filter(
    ({ status, periodNumber }) => status !== 'voided' && status !== 'abandoned' && periodNumber !== null,
  )
  const numbers = counted.map(({ periodNumber }) => periodNumber ?? -1)
  expect(new Set(numbers).size).toBe(numbers.length)
  const everBilled = new Set(order.invoices.map(({ periodNumber }) => periodNumber))
  const isBegun = isPostpaid(order.terms) && ['active', 'paused'].includes(order.status)
  const isServing =
    isBegun || (isPostpaid(order.terms) && order.status === 'canceled' && order.periodEnd !== null)
  const through = (order.rebillNumber ?? 0) - (isServing ? 1 : 0)
  for (let number = 1; number <= through; number += 1) expect(everBilled).toContain(number)
  // What a delinquency abandoned before its period began has not billed that period; what a caller gave up has.
  const givenUp = new Set(
    transitions
      .flatMap(({ cause, events }) =>
        cause === 'api' ? events.filter(({ type }) => type === 'invoice-abandoned') : [],
      )
      .map(({ invoice }) => invoice),
  )
  for (const [index, { order: then }] of transitions.entries()) {
    const number = then.rebillNumber
    if (isPostpaid(then.terms)) break
    if (number === null || number === (transitions[index - 1]?.order.rebillNumber ?? null)) continue
    const of = then.invoices.filter(({ periodNumber }) => periodNumber === number)
    expect(of.some(({ status, sequence }) => status !== 'abandoned' || givenUp.has(sequence))).toBe(true)
  }
  for (const { order: then, events } of transitions) {
    const types = events.map(({ type }) => type)
    const isNew = types.includes('subscription-reactivated') && then.periodStart === then.notBefore
    if (isNew && !isPostpaid(then.terms)) expect(types).toContain('renewal-invoice-issued')
  }
  const begun = transitions.flatMap(({ order: { periodStart, rebillNumber } }) =>
    rebillNumber === null || periodStart === null ? [] : [[rebillNumber, periodStart] as const],
  )
  for (const [index, [number, start]] of begun.entries()) {
    const [before, startBefore] = begun[index - 1] ?? [number, start]
    expect(number - before).toBeGreaterThanOrEqual(0)
    expect(number - before).toBeLessThanOrEqual(1)
    if (number > before) expect(start).toBeGreaterThanOrEqual(startBefore)
  }
}

export function expectNoHoles({ invoices }: Order, transitions: readonly Transition[]): void {
  if (
    transitions.some(
      ({ order: { status, canceledBy } }) => status === 'churned' || canceledBy === 'rebilly-side',
    )
  )
    return
  const ofPeriods = invoices.filter(({ periodNumber }) => periodNumber !== null)
  const ends = new Map(
    ofPeriods
      .filter(({ status }) => status !== 'voided')
      .map(({ periodNumber, periodEnd }) => [periodNumber ?? Number.NaN, periodEnd]),
  )
  for (const { status, periodNumber, periodStart } of ofPeriods) {
    const end = ends.get((periodNumber ?? Number.NaN) - 1)
    if (status !== 'voided' && end !== undefined) expect(periodStart).toBe(end)
  }
}

/** A canceled order has begun every period before its churn time, unless something kept it waiting. */
export function expectServedUntilChurn(order: Order): void {
  const { status, churnTime, rebillNumber } = order
  if (status !== 'churned' || churnTime === null || rebillNumber === null || isLastPeriod(order)) return
  expect(endOfPeriod(order, rebillNumber) ?? churnTime).toBeGreaterThanOrEqual(churnTime)
}

export function expectEventsOfTransitions(transitions: readonly Transition[]): void {
  let before: Order | null = null
  for (const { order, events } of transitions) {
    const types = events.map(({ type }) => type as string)
    if (before !== null && before.status !== order.status) {
      expect(types.filter((type) => STATUS_EVENTS[order.status]?.includes(type)).length).toBeGreaterThan(0)
    }
    for (const invoice of order.invoices) {
      const known = before?.invoices.find(({ sequence }) => sequence === invoice.sequence)
      const isPaidAgain = invoice.status === 'partially-paid' && known?.amountPaid !== invoice.amountPaid
      // An invoice that is due at a later time is not past due any more, which has no event of its own.
      const isDueAgain = known?.status === 'past-due' && known.dueTime !== invoice.dueTime && isOpen(invoice)
      const ofInvoice: string[] = events
        .filter((one) => one.invoice === invoice.sequence)
        .map(({ type }) => type)
      expect(ofInvoice.includes(INVOICE_EVENTS[invoice.status] ?? 'invoice-issued')).toBe(
        (known?.status !== invoice.status && !isDueAgain) || isPaidAgain,
      )
      expect(new Set(ofInvoice).size).toBe(ofInvoice.length)
    }
    before = order
  }
}

const STATUS_EVENTS: Readonly<Record<string, readonly string[]>> = {
  active: ['subscription-activated', 'subscription-resumed', 'subscription-reactivated'],
  abandoned: ['order-abandoned'],
  canceled: ['subscription-canceled'],
  churned: ['subscription-churned'],
  paused: ['subscription-paused'],
  voided: ['order-voided'],
  completed: ['order-completed'],
  'trial-ended': ['subscription-trial-ended'],
}

const INVOICE_EVENTS: Readonly<Record<string, string>> = {
  draft: 'invoice-created',
  unpaid: 'invoice-issued',
  'past-due': 'invoice-past-due',
  'partially-paid': 'invoice-partially-paid',
  paid: 'invoice-paid',
  voided: 'invoice-voided',
  abandoned: 'invoice-abandoned',
}

export function illegal(order: Order): string[] {
  const wrong: string[] = []
  const must = (holds: boolean, what: string): void => void (holds || wrong.push(`${order.status}: ${what}`))
  const ongoing = order.pauses.filter(({ status }) => status === 'ongoing')
  must(ongoing.length === (order.status === 'paused' ? 1 : 0), 'a pause is under way exactly while paused')
  must(
    order.status === 'active' ||
      order.pauses.every((one) => one.status !== 'pending') ||
      order.status === 'paused',
    'future pauses only in service',
  )
  must(
    (order.churnTime !== null) === ['canceled', 'churned'].includes(order.status),
    'a churn time exactly once canceled',
  )
  must((order.canceledTime !== null) === (order.churnTime !== null), 'a time of cancellation with it')
  must((order.voidTime !== null) === (order.status === 'voided'), 'a void time exactly once voided')
  must(
    !['pending', 'abandoned', 'voided'].includes(order.status) === (order.activationTime !== null),
    'activation',
  )
  must((order.activationTime ?? order.terms.startTime) >= order.terms.startTime, 'no start before its time')
  if (order.status === 'churned' && order.churnTime !== null && order.rebillNumber !== null) {
    const { churnTime } = order
    must(
      order.invoices.every((one) => !isComing(order, one) || ['voided', 'abandoned'].includes(one.status)),
      'nothing billed after the churn time',
    )
    must(
      order.invoices.every(
        ({ chargeTime, issuedTime }) =>
          chargeTime === null ||
          chargeTime < churnTime ||
          // The last period of a postpaid order is charged once, as its invoice is issued.
          (isPostpaid(order.terms) && chargeTime === issuedTime),
      ),
      'no charge after it',
    )
  }
  must(
    !['abandoned', 'voided'].includes(order.status) ||
      !order.invoices.some((one) => isOpen(one) || one.status === 'draft'),
    'open invoices',
  )
  const initial = order.invoices.find(({ type }) => type === 'initial')
  const isOneTime = order.terms.trial === null && order.terms.interval === null
  must(
    order.status !== 'completed' || !isOneTime || initial === undefined || !isOpen(initial),
    'a one-time sale completed while its first invoice is owed',
  )
  const between = order.invoices.filter(({ type }) => type === 'interim')
  must(
    between.every((one) => (one.periodStart ?? 0) <= (one.periodEnd ?? Number.POSITIVE_INFINITY)),
    'an invoice between renewals for a time that ends before it begins',
  )
  const { startTime } = order.terms
  must(
    order.status !== 'pending' ||
      order.invoices.every(({ chargeTime }) => chargeTime === null || chargeTime >= startTime),
    'no charge before the start',
  )
  must(
    order.isTrialConverted ||
      order.inTrial ||
      initial?.periodNumber !== 0 ||
      !order.invoices.some(
        ({ type, status, amountPaid }) => type === 'renewal' && status === 'paid' && Number(amountPaid) > 0,
      ),
    'a trial that is followed by a payment is converted',
  )
  must(
    order.invoices.every((one) => one.chargeTime === null || !isHeld(order, one)),
    'no charge planned that has to wait for another instrument',
  )
  for (const invoice of order.invoices) {
    const { lines, discounts, amount, status, issuedTime, dueTime, amountPaid, charge, periodStart } = invoice
    must(new Money(amountPaid).lessThanOrEqualTo(amount), 'paid once at most')
    must(status !== 'paid' || charge === null, 'no charge of what is paid')
    must(amount === sumOf(lines.map(netAmount)), 'totals are sums')
    must(
      discounts.every(({ redemptionId }, index) =>
        discounts.slice(index + 1).every((other) => other.redemptionId !== redemptionId),
      ),
      'each coupon once',
    )
    must(
      sumOf(discounts.map((one) => one.amount)) === sumOf(lines.map((line) => line.discount ?? '0')),
      'discounts are split over the lines',
    )
    must(status !== 'paid' || issuedTime !== null, 'paid ones were issued')
    must(dueTime === null || (issuedTime ?? 0) <= dueTime, 'due after issue')
    must(
      !isOpen(invoice) ||
        dueTime === null ||
        !isComing(order, invoice) ||
        dueTime >= (periodStart ?? dueTime),
      'no coming period is due before it begins',
    )
  }
  return wrong
}
