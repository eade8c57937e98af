import type { Call } from '../call.ts'
import { CATALOGUE } from './setup.ts'

export const WEBSITES: readonly Call[] = [
  { operation: 'POST websites', body: 'full', case: 'with every member', as: 'website' },
  { operation: 'POST websites', body: 'nulls', case: 'with nulls', as: 'another' },
  { operation: 'GET websites' },
  { operation: 'GET websites/{id}', of: ['website'], as: 'website' },
  { operation: 'PUT websites/{id}', body: { held: 'website' }, case: 'with what was read', of: ['website'] },
  {
    operation: 'PUT websites/{id}',
    body: 'full',
    case: 'with every member, of a new id',
    of: ['=shop'],
    status: 201,
  },
  { operation: 'DELETE websites/{id}', of: ['another'] },
]

export const PRODUCTS: readonly Call[] = [
  { operation: 'POST products', body: 'full', case: 'with every member', as: 'product' },
  { operation: 'POST products', body: 'nulls', case: 'with nulls', as: 'another' },
  { operation: 'GET products' },
  { operation: 'GET products/{id}', of: ['product'], as: 'product' },
  { operation: 'PUT products/{id}', body: { held: 'product' }, case: 'with what was read', of: ['product'] },
  {
    operation: 'PUT products/{id}',
    body: 'full',
    case: 'with every member, of a new id',
    of: ['=seat'],
    status: 201,
  },
  { operation: 'DELETE products/{id}', of: ['another'] },
]

export const SHIPPING_RATES: readonly Call[] = [
  {
    operation: 'POST shipping-rates',
    body: 'full',
    case: 'with every member',
    as: 'rate',
  },
  { operation: 'POST shipping-rates', body: 'nulls', case: 'with nulls', as: 'another' },
  { operation: 'GET shipping-rates' },
  { operation: 'GET shipping-rates/{id}', of: ['rate'], as: 'rate' },
  { operation: 'PUT shipping-rates/{id}', body: { held: 'rate' }, case: 'with what was read', of: ['rate'] },
  { operation: 'DELETE shipping-rates/{id}', of: ['another'] },
]

const brackets = [
  { price: 9.9, maxQuantity: 10 },
  { price: 8.9, maxQuantity: null },
]
const ofSubscription = (name: string, members: NonNullable<Call['with']>): Call => ({
  operation: 'POST plans',
  shape: 'SubscriptionPlan',
  body: 'required',
  case: name,
  with: { recurringInterval: { unit: 'month', length: 1 }, ...members },
})
const priced = (pricing: NonNullable<Call['with']>): Call =>
  ofSubscription(`priced by ${pricing.formula}`, { pricing })
const every = (unit: string): Call =>
  ofSubscription(`every ${unit}`, { recurringInterval: { unit, length: 2, limit: 6 } })

export const PLANS: readonly Call[] = [
  ...CATALOGUE,
  {
    operation: 'POST plans',
    shape: 'SubscriptionPlan',
    body: 'full',
    case: 'of a subscription, with every member',
    with: { invoiceTimeShift: shift('hour') },
    as: 'subscriptionPlan',
  },
  {
    operation: 'POST plans',
    shape: 'SubscriptionPlan',
    body: 'nulls',
    case: 'of a subscription, with nulls',
    as: 'another',
  },
  {
    operation: 'POST plans',
    shape: 'OneTimeSalePlan',
    body: 'full',
    case: 'of a one-time sale, with every member',
    as: 'oneTimePlan',
  },
  {
    operation: 'POST plans',
    shape: 'OneTimeSalePlan',
    body: 'nulls',
    case: 'of a one-time sale, with nulls',
  },
  {
    operation: 'POST plans',
    shape: 'TrialOnlyPlan',
    body: 'full',
    case: 'of a trial only, with every member',
    with: { isTrialOnly: true, invoiceTimeShift: shift('hour') },
    as: 'trialPlan',
  },
  {
    operation: 'POST plans',
    shape: 'TrialOnlyPlan',
    body: 'nulls',
    case: 'of a trial only, with nulls',
    with: { isTrialOnly: true },
  },
  {
    operation: 'POST plans',
    shape: 'TrialOnlyPlan',
    body: 'required',
    case: 'of a trial only, with what is required',
  },
  priced({ formula: 'fixed-fee', price: 9.9 }),
  priced({ formula: 'flat-rate', price: 9.9 }),
  {
    ...priced({ formula: 'flat-rate', price: 9.9, minQuantity: 1, maxQuantity: 100 }),
    case: 'priced by flat-rate, with limits',
  },
  priced({ formula: 'stairstep', brackets }),
  priced({ formula: 'tiered', brackets }),
  priced({ formula: 'volume', brackets }),
  ...['stairstep', 'tiered', 'volume'].map((formula) => ({
    ...priced({ formula, brackets, minQuantity: 1 }),
    case: `priced by ${formula}, with a limit`,
  })),
  every('day'),
  every('week'),
  every('month'),
  every('year'),
  ofSubscription('billed in arrears', {
    recurringInterval: { unit: 'month', length: 1, billingTiming: 'postpaid' },
  }),
  ofSubscription('with periods that begin on a day of the week', {
    recurringInterval: {
      unit: 'week',
      length: 1,
      periodAnchorInstruction: { method: 'day-of-week', day: 'Monday', week: 'next' },
    },
  }),
  {
    ...ofSubscription('with periods that begin on a day of the year', {
      recurringInterval: {
        unit: 'year',
        length: 1,
        periodAnchorInstruction: { method: 'day-and-month-of-year', day: 1, month: 2 },
      },
    }),
    notYet: 'periods that begin on a day of the year',
  },
  ...['second', 'minute', 'hour', 'day', 'month', 'year']
    .flatMap((unit) => [unit, `${unit}s`])
    .map(shiftedBy),
  { operation: 'GET plans' },
  {
    operation: 'GET plans/{id}',
    case: 'of a subscription',
    of: ['subscriptionPlan'],
    as: 'subscriptionPlan',
  },
  { operation: 'GET plans/{id}', case: 'of a one-time sale', of: ['oneTimePlan'], as: 'oneTimePlan' },
  { operation: 'GET plans/{id}', case: 'of a trial only', of: ['trialPlan'], as: 'trialPlan' },
  {
    operation: 'PUT plans/{id}',
    body: { held: 'subscriptionPlan' },
    shape: 'SubscriptionPlan',
    case: 'of a subscription, with what was read',
    of: ['subscriptionPlan'],
  },
  {
    operation: 'PUT plans/{id}',
    body: { held: 'oneTimePlan' },
    shape: 'OneTimeSalePlan',
    case: 'of a one-time sale, with what was read',
    of: ['oneTimePlan'],
  },
  {
    operation: 'PUT plans/{id}',
    body: { held: 'trialPlan' },
    shape: 'TrialOnlyPlan',
    case: 'of a trial only, with what was read',
    of: ['trialPlan'],
  },
  {
    operation: 'PUT plans/{id}',
    body: 'full',
    shape: 'SubscriptionPlan',
    case: 'of a subscription, with every member, of a new id',
    with: { invoiceTimeShift: shift('hour') },
    of: ['=monthly'],
    status: 201,
  },
  { operation: 'DELETE plans/{id}', of: ['another'] },
]

function shiftedBy(unit: string): Call {
  const { issueTimeShift } = shift(unit)
  return ofSubscription(`with invoices shifted by ${unit}`, { invoiceTimeShift: { issueTimeShift } })
}

function shift(unit: string) {
  return { issueTimeShift: { chronology: 'before', duration: 1, unit }, dueTimeShift: { duration: 1, unit } }
}
