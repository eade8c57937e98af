/** The agreed terms of an order: its plans as they were when priced, and what the order sets in their place. */
import type { RedeemedCoupon } from './coupons.ts'
import { type Duration, parseDuration, reach } from './durations.ts'
import { orNever } from './instants.ts'
import { type AnchoredPeriod, type Period, type PeriodAnchor, periodDuration } from './periods.ts'
import type { Pricing } from './pricing.ts'
import type { TaxSchedule } from './taxes.ts'

/** Defaults are left out, so that equal intervals are equal documents. */
export interface RecurringInterval extends AnchoredPeriod {
  /** Number of periods; null: until canceled. */
  readonly limit: number | null
  /** Left out: each period is billed as it begins. */
  readonly billingTiming?: 'postpaid'
}

/** What an order sets in place of its plans: the whole interval, or only its limit or the day on which periods begin; null: no day. */
export type OrderInterval =
  | RecurringInterval
  | { readonly limit?: number; readonly periodAnchorInstruction?: PeriodAnchor | null }

export interface PlanTrial {
  /** Per item, whatever the quantity. */
  readonly price: string
  readonly period: Period
}

/** Each is accepted in the plural too. */
export const SHIFT_UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const
type SingularUnit = (typeof SHIFT_UNITS)[number]
export type ShiftUnit = SingularUnit | `${SingularUnit}s`

export interface TimeShift {
  readonly chronology: 'before' | 'after'
  readonly duration: number
  readonly unit: ShiftUnit
}

export interface InvoiceTimeShift {
  /** Time before its boundary at which a renewal invoice is issued; null: at the boundary. */
  readonly issueTimeShift: TimeShift | null
  /** Time from its issue until an invoice is due; null: an hour. */
  readonly dueTimeShift: TimeShift | null
}

export interface PricedPlan {
  /** null: a plan of the item's own. An inline plan may have the id of another plan, or none. */
  readonly id: string | null
  readonly isInline?: true
  readonly name: string
  readonly productId?: string | null
  readonly currency: string
  readonly pricing: Pricing
  readonly recurringInterval: RecurringInterval | null
  readonly trial: PlanTrial | null
  readonly isTrialOnly: boolean
  readonly setup: { readonly price: string } | null
  readonly invoiceTimeShift: InvoiceTimeShift | null
}

export interface PricedItem {
  readonly id: string
  readonly quantity: number
  readonly plan: PricedPlan
  readonly excludeFromMrr?: boolean
}

/**
 * How an order bills a plan: once, for its trial alone, or each period. `trial` is that of the order; without one, a
 * plan for a trial alone is billed as if it had none either.
 */
export function planBilling(
  { recurringInterval, trial, isTrialOnly }: Pick<PricedPlan, 'recurringInterval' | 'trial' | 'isTrialOnly'>,
  order: Pick<OrderTerms, 'trial'>,
): 'one-time' | 'trial-only' | 'recurring' {
  const isForTrial = trial !== null && (isTrialOnly || recurringInterval === null)
  if (isForTrial && order.trial !== null) return 'trial-only'
  return recurringInterval === null ? 'one-time' : 'recurring'
}

export function isPostpaid({ interval }: Pick<OrderTerms, 'interval'>): boolean {
  return interval?.billingTiming === 'postpaid'
}

/** A period from activation, or a fixed end that moves with a late activation. */
export type TrialTerms = { readonly period: Period } | { readonly endTime: number }

export interface OrderTerms {
  readonly currency: string
  readonly createdTime: number
  readonly startTime: number
  /** By default that of `abandonment.ts`; null: never. */
  readonly abandonTime: number | null
  readonly items: readonly PricedItem[]
  readonly trial: TrialTerms | null
  /** When the trial was last changed; null or left out: never since the creation. */
  readonly trialGivenTime?: number | null
  /** null: nothing recurs (one-time sales, or a trial alone). */
  readonly interval: RecurringInterval | null
  readonly invoiceTimeShift: InvoiceTimeShift | null
  readonly delinquencyPeriod: Duration | null
  readonly shipping: string | null
  /** In the order of application. */
  readonly coupons: readonly RedeemedCoupon[]
  /** null or left out: nothing is taxed. */
  readonly taxes?: TaxSchedule | null
  /** True with autopay and an instrument to charge. */
  readonly canCharge: boolean
  readonly instrumentId: string | null
  /** Charged, in this order, for what the instrument was declined for good; left out: none. */
  readonly backupIds?: readonly string[]
  /** From the first decline, by default those of `billing-settings.ts`; none without autopay. */
  readonly autopayRetries: readonly Duration[]
  /** Days of the month for retries of declines for lack of funds; none: the schedule decides. */
  readonly paydays: readonly number[]
  /** Renewals declined in a row after which the order waits for another instrument; null: it never does. */
  readonly declinedRenewalsLimit: number | null
  readonly reminders: ReminderTerms
}

/** How invoices are charged automatically. */
export type AutopayTerms = Pick<
  OrderTerms,
  'canCharge' | 'instrumentId' | 'backupIds' | 'autopayRetries' | 'paydays' | 'declinedRenewalsLimit'
>

export const NOT_CHARGED: AutopayTerms = {
  canCharge: false,
  instrumentId: null,
  autopayRetries: [],
  paydays: [],
  declinedRenewalsLimit: null,
}

export type ReminderTerms = Readonly<Record<'renewal' | 'trialEnd' | 'abandon', readonly Duration[]>>

export const NO_REMINDERS: ReminderTerms = { renewal: [], trialEnd: [], abandon: [] }

/** null leaves a choice to the plans. */
export interface OrderChoices {
  readonly trial: { readonly enabled: boolean; readonly endTime: number | null } | null
  readonly isTrialOnly: boolean
  readonly recurringInterval: OrderInterval | null
  readonly invoiceTimeShift: InvoiceTimeShift | null
}

export type AgreedTerms = Pick<OrderTerms, 'trial' | 'interval' | 'invoiceTimeShift'>

export function agreedTerms(plans: readonly PricedPlan[], choices: OrderChoices): AgreedTerms {
  const ofPlans = plans.find(({ trial }) => trial !== null)?.trial ?? null
  const trial = choices.trial === null ? ofPlans && { period: ofPlans.period } : orderTrial(choices.trial)
  const isTrialOnly = trial !== null && choices.isTrialOnly
  const recurring = plans.find((plan) => planBilling(plan, { trial }) === 'recurring')
  return {
    trial,
    interval:
      isTrialOnly || recurring === undefined
        ? null
        : orderInterval(choices.recurringInterval, recurring.recurringInterval),
    invoiceTimeShift:
      choices.invoiceTimeShift ??
      plans.find(({ invoiceTimeShift }) => invoiceTimeShift !== null)?.invoiceTimeShift ??
      null,
  }
}

function orderInterval(
  own: OrderInterval | null,
  ofPlans: RecurringInterval | null,
): RecurringInterval | null {
  if (own === null || ofPlans === null) return ofPlans
  return hasPeriod(own) ? own : { ...ofPlans, ...own }
}

/** True if the interval is whole. */
export function hasPeriod(interval: OrderInterval): interval is RecurringInterval {
  return 'unit' in interval
}

/** The terms of an order that begins at `now` and is not charged automatically. */
export function newOrderTerms(
  items: readonly PricedItem[],
  agreed: AgreedTerms,
  {
    now,
    shipping,
    coupons,
    taxes = null,
  }: { readonly now: number } & Pick<OrderTerms, 'shipping' | 'coupons' | 'taxes'>,
): OrderTerms {
  return {
    currency: items[0]?.plan.currency ?? '',
    createdTime: now,
    startTime: now,
    abandonTime: null,
    items,
    ...agreed,
    delinquencyPeriod: null,
    shipping,
    coupons,
    ...NOT_CHARGED,
    reminders: NO_REMINDERS,
    taxes,
  }
}

export function shifted(instant: number, { chronology, duration, unit }: TimeShift): number | null {
  const parsed = parseDuration(shiftText(duration, unit))
  return parsed === null ? instant : reach(instant, parsed, chronology === 'before' ? -1 : 1)
}

/** A fixed end moves by the delay of the activation, but for what had passed when it was given. Returns null if the trial never ends. */
export function trialEnd(terms: OrderTerms, activation: number): number | null {
  const { trial } = terms
  if (trial === null) return null
  if ('period' in trial) return reach(activation, periodDuration(trial.period))
  const planned = Math.max(terms.startTime, terms.trialGivenTime ?? terms.createdTime)
  return orNever(trial.endTime + Math.max(0, activation - planned))
}

function orderTrial({ enabled, endTime }: { enabled: boolean; endTime: number | null }): TrialTerms | null {
  return enabled && endTime !== null ? { endTime } : null
}

function shiftText(duration: number, unit: ShiftUnit): string {
  const letter = unit.slice(0, 1).toUpperCase()
  return /^(?:second|minute|hour)/.test(unit) ? `PT${duration}${letter}` : `P${duration}${letter}`
}
