import type { Call } from '../call.ts'

export const CATALOGUE: readonly Call[] = [
  { operation: 'POST websites', body: 'required', case: 'with what is required', as: 'website' },
  { operation: 'POST products', body: 'required', case: 'with what is required', as: 'product' },
  {
    operation: 'POST plans',
    body: 'required',
    case: 'of a subscription, with what is required',
    shape: 'SubscriptionPlan',
    with: { recurringInterval: { unit: 'month', length: 1 } },
    as: 'plan',
  },
]

export const CUSTOMER: readonly Call[] = [
  { operation: 'POST customers', body: 'required', case: 'with what is required', as: 'customer' },
  { operation: 'POST tokens', body: 'full', case: 'with every member', as: 'token' },
  {
    operation: 'POST payment-instruments',
    body: 'given',
    case: 'of a payment token',
    with: { method: 'payment-card', customerId: '{customer}', token: '{token}' },
    as: 'instrument',
  },
]

export const ORDER: readonly Call[] = [
  {
    operation: 'POST subscriptions',
    body: 'required',
    case: 'with what is required',
    with: { paymentInstrumentId: '{instrument}' },
    as: 'order',
  },
  {
    operation: 'GET subscriptions/{id}',
    case: 'once it is active',
    of: ['order'],
    until: { status: 'active', billingStatus: 'paid' },
    as: 'order',
  },
]
