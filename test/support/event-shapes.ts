/** What every event of a test run must contain: the ids of its type, its records, its links, its name. */
import pg from 'pg'
import { eventContractProblem } from './contract.ts'

interface Shape {
  readonly ids: readonly string[]
  readonly embedded: readonly string[]
}

const SUBSCRIPTION: Shape = { ids: ['subscriptionId'], embedded: ['subscription'] }
const PAUSE: Shape = { ids: ['subscriptionId', 'subscriptionPauseId'], embedded: ['subscription'] }
const INVOICE: Shape = { ids: ['invoiceId'], embedded: ['invoice'] }
const TRANSACTION: Shape = { ids: ['transactionId'], embedded: ['transaction'] }
const REDEMPTION: Shape = { ids: ['couponId', 'redemptionId', 'customerId'], embedded: ['coupon'] }

/** By type, or by what types begin with; the longest that matches applies. */
const SHAPES: Readonly<Record<string, Shape>> = {
  'subscription-': SUBSCRIPTION,
  'order-': SUBSCRIPTION,
  'subscription-paused': PAUSE,
  'subscription-resumed': PAUSE,
  'subscription-pause-': PAUSE,
  'renewal-invoice-issued': { ids: ['subscriptionId', 'invoiceId'], embedded: ['subscription', 'invoice'] },
  'renewal-invoice-payment-': { ids: ['transactionId', 'invoiceId'], embedded: ['transaction', 'invoice'] },
  'invoice-': INVOICE,
  'transaction-': TRANSACTION,
  'offsite-payment-': TRANSACTION,
  'dispute-': { ids: ['disputeId', 'transactionId'], embedded: ['dispute', 'transaction'] },
  'customer-': { ids: ['customerId'], embedded: ['customer'] },
  'lead-source-changed': { ids: ['customerId'], embedded: ['customer'] },
  'payment-instrument-': { ids: ['paymentInstrumentId'], embedded: ['paymentInstrument'] },
  'payment-card-': { ids: ['paymentCardId'], embedded: ['paymentInstrument'] },
  'coupon-': { ids: ['couponId'], embedded: ['coupon'] },
  'coupon-applied': REDEMPTION,
  'coupon-application-removed': REDEMPTION,
  'coupon-redeemed': REDEMPTION,
  'coupon-redemption-canceled': REDEMPTION,
  'credit-memo-': { ids: ['creditMemoId'], embedded: ['creditMemo'] },
  'webhook-': { ids: ['webhookId'], embedded: ['webhook'] },
}

interface EventRow {
  readonly id: string
  readonly type: string
  readonly entity_id: string
  readonly payload: string
  readonly event_time: Date
}

export function eventProblem(row: EventRow): string | null {
  const name = Object.keys(SHAPES)
    .filter((start) => row.type.startsWith(start))
    .sort((one, other) => other.length - one.length)[0]
  const shape = name === undefined ? undefined : SHAPES[name]
  if (shape === undefined) return `${row.type} has a type without a shape`
  const payload = JSON.parse(row.payload) as Record<string, unknown>
  const { eventType, eventId, eventTime, _embedded: embedded, _links: links } = payload
  if (eventType !== row.type || eventId !== row.id || eventTime !== row.event_time.toISOString())
    return `${row.type} ${row.id} does not say what it is`
  for (const id of shape.ids) {
    if (typeof payload[id] !== 'string') return `${row.type} lacks ${id}`
  }
  if (payload[shape.ids[0] ?? ''] !== row.entity_id) return `${row.type} is filed under ${row.entity_id}`
  for (const member of shape.embedded) {
    const record = (embedded as Record<string, Record<string, unknown>> | undefined)?.[member]
    if (record?.id !== payload[`${member}Id`] && member !== 'paymentInstrument')
      return `${row.type} does not embed its ${member}`
    if (typeof record?.revision !== 'number') return `${row.type} embeds no whole ${member}`
  }
  if (
    !Array.isArray(links) ||
    links.some((link) => typeof link?.href !== 'string' || typeof link?.rel !== 'string')
  )
    return `${row.type} has no links`
  return null
}

export async function eventProblems(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<EventRow>(
      'select id, type, entity_id, payload, event_time from events',
    )
    const problems = rows.map((row) => eventProblem(row) ?? eventContractProblem(row.type, row.payload))
    return [...new Set(problems)].filter((problem) => problem !== null)
  } finally {
    await client.end()
  }
}
