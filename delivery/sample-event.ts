import { eventPayload } from '../db/event-payload.ts'
import { newId } from '../db/new-id.ts'

export interface SampleEvent {
  readonly eventId: string
  readonly entityId: string
  readonly payload: string
}

/** Ids at the start of a type's payload: the first matching rule applies. */
const IDS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^subscription-(paused|resumed|pause-)/, ['subscription', 'subscriptionPause']],
  [/^renewal-invoice-issued$/, ['subscription', 'invoice']],
  [/^(subscription|order)-/, ['subscription']],
  [/^invoice-/, ['invoice']],
  [/^renewal-invoice-payment-/, ['transaction', 'invoice']],
  [/^(transaction-|gateway-account-|offsite-payment-|risk-score-)/, ['transaction']],
  [/^dispute-/, ['dispute', 'transaction']],
  [/^(customer-|lead-source-|aml-)/, ['customer']],
  [/^(payment-card-|payment-instrument-)/, ['paymentInstrument']],
  [
    /^coupon-(applied|application-removed|redeemed|redemption-canceled)$/,
    ['coupon', 'redemption', 'customer'],
  ],
  [/^coupon-/, ['coupon']],
  [/^kyc-request-/, ['customer', 'kycRequest']],
  [/^kyc-document-/, ['customer', 'kycDocument', 'file']],
  [/^data-export-/, ['dataExport', 'file']],
  [/^credit-memo-/, ['creditMemo']],
  [/^quote-/, ['quote']],
  [/^application-/, ['organization', 'application']],
  [/^balance-transaction-/, ['recognition', 'invoice', 'item']],
  [/^webhook-/, ['webhook']],
]

/** `type` may be an event type of another release: its sample has no ids. */
export function sampleEvent(type: string, now: Date): SampleEvent {
  const eventId = newId('evt')
  const names = IDS.find(([types]) => types.test(type))?.[1] ?? []
  const idOf = (name: string) => `sample-${name}`
  const payload = eventPayload(eventId, {
    type,
    time: now,
    ids: Object.fromEntries(names.map((name) => [`${name}Id`, idOf(name)])),
    embedded: Object.fromEntries(names.map((name) => [name, { id: idOf(name) }])),
    links: [],
  })
  return { eventId, entityId: idOf(names[0] ?? type), payload }
}
