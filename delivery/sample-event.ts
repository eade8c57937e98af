import { EMITTED_EVENTS, embeddedIn } from '../billing/event-types.ts'
import { eventPayload } from '../db/event-payload.ts'
import { newId } from '../db/new-id.ts'

export interface SampleEvent {
  readonly eventId: string
  readonly entityId: string
  readonly payload: string
}

/** Records of types that this release does not emit: the first matching rule applies. */
const NOT_EMITTED: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^invoice-/, ['invoice']],
  [/^(transaction-|gateway-account-|risk-score-)/, ['transaction']],
  [/^aml-/, ['customer']],
  [/^kyc-request-/, ['customer', 'kycRequest']],
  [/^kyc-document-/, ['customer', 'kycDocument', 'file']],
  [/^data-export-/, ['dataExport', 'file']],
  [/^quote-/, ['quote']],
  [/^application-/, ['organization', 'application']],
  [/^balance-transaction-/, ['recognition', 'invoice', 'item']],
]

const EXTRA: readonly (readonly [RegExp, Readonly<Record<string, string>>])[] = [
  [/^customer-merged$/, { duplicateCustomerId: 'sample-duplicateCustomer' }],
  [/^webhook-delivery-exhausted$/, { deliveryId: 'sample-delivery' }],
  [/^dispute-/, { cause: 'api' }],
]

/** Has the members of a real event; its records have an id alone. One of another release may have no records. */
export function sampleEvent(type: string, now: Date): SampleEvent {
  const eventId = newId('evt')
  const event = EMITTED_EVENTS.find((one) => one.type === type)
  const others = NOT_EMITTED.find(([types]) => types.test(type))?.[1] ?? []
  const ids = event?.ids ?? others.map((name) => `${name}Id`)
  const embedded = event === undefined ? others : embeddedIn(event)
  const idOf = (name: string) => `sample-${name.replace(/Id$/, '')}`
  const payload = eventPayload(eventId, {
    type,
    time: now,
    ids: Object.fromEntries(ids.map((name) => [name, idOf(name)])),
    embedded: Object.fromEntries(embedded.map((name) => [name, { id: idOf(name) }])),
    links: [],
    extra: EXTRA.find(([types]) => types.test(type))?.[1] ?? {},
  })
  return { eventId, entityId: idOf(ids[0] ?? type), payload }
}
