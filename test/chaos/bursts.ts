/** Bursts of orders, and what must be true of each order, whatever was killed meanwhile. */
import { expect } from '@jest/globals'
import type pg from 'pg'
import { createVerifier } from '../../dev/verify-webhook.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { orderBody } from '../support/catalogue.ts'
import type { Receiver } from '../support/receiver.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'
import { delay, type Environment, type Merchant, rows, stubborn } from './environment.ts'

const CLIENTS = 20
/** As the database and the ledger write it. */
const PRICE = '9.900000'

export interface PlacedOrder {
  readonly id: string
  readonly isCharged: boolean
}

/** What a gateway's own books say of a request. */
export interface LedgerEntry {
  readonly requestId: string
  readonly kind: string
  readonly result: string
  /** As the database writes it. */
  readonly amount: string
  readonly currency: string
}

/** Reads the books of the gateway that an organization is charged by. */
export type Ledger = (database: pg.Client, organizationId: string) => Promise<readonly LedgerEntry[]>

export interface Burst {
  readonly merchant: Merchant
  readonly orders: readonly PlacedOrder[]
}

export interface BurstOptions {
  readonly orders: number
  /** Milliseconds over which they are placed. */
  readonly within: number
  /** A third of them starts up to so many milliseconds later, so that timers are pending. */
  readonly startsWithin: number
  /** True if some customers' charges respond late: those orders start after more than a minute. */
  readonly lateCards?: boolean
}

export interface Customers {
  readonly uncharged: string
  readonly charged: readonly string[]
}

export async function makeCustomers(merchant: Merchant, lateCards = false): Promise<Customers> {
  const pans = Array.from({ length: 8 }, (_, index) =>
    lateCards && index % 4 === 0 ? TEST_CARDS.answersLate : TEST_CARDS.approves,
  )
  const charged = await Promise.all(
    pans.map(async (pan) => {
      const response = await merchant.api.post('customers', {
        paymentToken: await makeToken(merchant.api, pan),
      })
      if (response.status !== 201) throw new Error(`POST customers: ${JSON.stringify(response.body)}`)
      return String(response.body.id)
    }),
  )
  return { uncharged: merchant.customerId, charged }
}

export async function placeOrders(
  merchant: Merchant,
  random: () => number,
  { orders: wanted, within, startsWithin, lateCards }: BurstOptions,
): Promise<Burst> {
  const customers = await makeCustomers(merchant, lateCards)
  const orders: PlacedOrder[] = []
  let begun = 0
  const client = async (): Promise<void> => {
    while (begun < wanted) {
      const ordinal = begun
      begun += 1
      const payer =
        ordinal % 2 === 0 ? null : customers.charged[((ordinal - 1) / 2) % customers.charged.length]
      const startTime = random() < 1 / 3 ? new Date(Date.now() + random() * startsWithin).toISOString() : null
      orders.push(await placeOrder(merchant, payer ?? null, startTime))
      await delay(random() * ((2 * within * CLIENTS) / wanted))
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return { merchant, orders }
}

export async function placeOrder(
  merchant: Merchant,
  payer: string | null,
  startTime: string | null,
): Promise<PlacedOrder> {
  const response = await merchant.api.post(
    'subscriptions',
    orderBody(merchant, { startTime, ...(payer === null ? {} : { customerId: payer }) }),
  )
  if (response.status !== 201) throw new Error(`unexpected response: ${JSON.stringify(response.body)}`)
  return { id: String(response.body.id), isCharged: payer !== null }
}

/**
 * The orders that exist are those that were accepted; each is active, did not start early, and has one invoice.
 * Each event was written once, and received at least once. The gateway's own ledger has one charge of the exact
 * amount for each charged order, and nothing else; no outcome is unknown.
 */
export async function requireBurst(
  environment: Environment,
  receiver: Receiver,
  burst: Burst,
  ledger: Ledger = testGatewayLedger,
): Promise<void> {
  const database = await stubborn('a connection to the database', () => environment.query())
  try {
    await requireBurstIn(database, environment, receiver, burst, ledger)
  } finally {
    await database.end()
  }
}

async function requireBurstIn(
  database: pg.Client,
  environment: Environment,
  receiver: Receiver,
  { merchant: { organizationId }, orders }: Burst,
  ledger: Ledger,
): Promise<void> {
  await waitFor(
    `all orders of ${organizationId} to be active and all deliveries to be done`,
    async () => {
      const [row] = await rows<{ open: string }>(
        database,
        `select (select count(*) from subscriptions where organization_id = $1 and status <> 'active')
              + (select count(*) from deliveries where organization_id = $1 and status <> 'delivered') as open`,
        [organizationId],
      )
      return row?.open === '0' ? true : null
    },
    600_000,
  ).catch(async (error: unknown) => {
    throw new Error(`${error}: ${JSON.stringify(await whatIsOpen(database, organizationId))}`)
  })
  await requireOrders(database, organizationId, orders)
  await requireLedger(database, organizationId, orders, ledger)
  await requireEvents(database, environment, receiver, organizationId, orders)
}

async function whatIsOpen(database: pg.Client, organizationId: string): Promise<unknown> {
  const limited = 'order by 1 limit 10'
  return {
    orders: await rows(
      database,
      `select id, status, billing_status, next_due_kind, next_deadline, quarantine_reason, now() from subscriptions
        where organization_id = $1 and status <> 'active' ${limited}`,
      [organizationId],
    ),
    deliveries: await rows(
      database,
      `select id, status, next_attempt_time from deliveries
        where organization_id = $1 and status <> 'delivered' ${limited}`,
      [organizationId],
    ),
    wakeUps: await rows(
      database,
      `select workflow, record_id, not_before, lease_until, last_error from wake_ups where organization_id = $1 ${limited}`,
      [organizationId],
    ),
  }
}

async function requireOrders(
  database: pg.Client,
  organizationId: string,
  orders: readonly PlacedOrder[],
): Promise<void> {
  const found = await rows<{ id: string; start: Date; activation: Date | null; written: Date | null }>(
    database,
    `select subscription.id, start_time as start, activation_time as activation, event.updated_time as written
       from subscriptions subscription
       left join events event on event.organization_id = subscription.organization_id
        and event.entity_id = subscription.id and event.type = 'subscription-activated'
      where subscription.organization_id = $1 and subscription.status = 'active'`,
    [organizationId],
  )
  expect(found.map(({ id }) => id).sort()).toEqual(orders.map(({ id }) => id).sort())
  // `updated_time` of an event is the clock of the database, whatever the clock of the worker.
  expect(
    found.filter(
      ({ start, activation, written }) =>
        activation === null || activation < start || written === null || written < start,
    ),
  ).toEqual([])
  const charged = new Set(orders.filter(({ isCharged }) => isCharged).map(({ id }) => id))
  const invoices = await rows<{ subscription_id: string; status: string; amount: string; paid: string }>(
    database,
    'select subscription_id, status, amount, amount_paid as paid from invoices where organization_id = $1',
    [organizationId],
  )
  expect(invoices.sort(bySubscription)).toEqual(
    orders
      .map(({ id }) => ({
        subscription_id: id,
        status: charged.has(id) ? 'paid' : 'unpaid',
        amount: PRICE,
        paid: charged.has(id) ? PRICE : '0.000000',
      }))
      .sort(bySubscription),
  )
}

async function requireLedger(
  database: pg.Client,
  organizationId: string,
  orders: readonly PlacedOrder[],
  ledger: Ledger,
): Promise<void> {
  const sales = await rows<Sale>(
    database,
    `select sale.request_id, sale.subscription_id, sale.result as recorded,
            sale.invoice_ids ->> 0 = invoice.id as is_first
       from transactions sale
       left join invoices invoice on invoice.organization_id = sale.organization_id
        and invoice.subscription_id = sale.subscription_id
      where sale.organization_id = $1`,
    [organizationId],
  )
  const saleOf = new Map(sales.map((sale) => [sale.request_id, sale]))
  const charged = (await ledger(database, organizationId)).map(({ requestId, ...entry }) => {
    const sale = saleOf.get(requestId)
    return {
      subscription_id: sale?.subscription_id ?? '',
      ...entry,
      recorded: sale?.recorded,
      is_first: sale?.is_first,
    }
  })
  const expected = orders
    .filter(({ isCharged }) => isCharged)
    .map(({ id }) => ({
      subscription_id: id,
      kind: 'charge',
      result: 'approved',
      amount: PRICE,
      currency: 'EUR',
      recorded: 'approved',
      is_first: true,
    }))
  expect(charged.sort(bySubscription)).toEqual(expected.sort(bySubscription))
  expect(sales.filter(({ recorded }) => recorded === 'unknown')).toEqual([])
}

interface Sale {
  readonly request_id: string
  readonly subscription_id: string
  readonly recorded: string
  readonly is_first: boolean
}

const testGatewayLedger: Ledger = (database, organizationId) =>
  rows(
    database,
    `select request_id as "requestId", kind, result, amount, currency
       from test_gateway.ledger where organization_id = $1`,
    [organizationId],
  )

async function requireEvents(
  database: pg.Client,
  environment: Environment,
  receiver: Receiver,
  organizationId: string,
  orders: readonly PlacedOrder[],
): Promise<void> {
  const events = await rows<{ id: string; event: string; subject: string }>(
    database,
    `select event.id, event.type || ': ' || coalesce(payload::jsonb #>> '{_embedded,subscription,status}',
              payload::jsonb #>> '{_embedded,invoice,status}', payload::jsonb #>> '{_embedded,transaction,result}') as event,
            coalesce(invoice.subscription_id, sale.subscription_id, event.entity_id) as subject
       from events event
       left join invoices invoice on invoice.organization_id = event.organization_id and invoice.id = event.entity_id
       left join transactions sale on sale.organization_id = event.organization_id and sale.id = event.entity_id
      where event.organization_id = $1 and event.type !~ '^(customer|payment-card|payment-instrument)-' order by event.id`,
    [organizationId],
  )
  const written = Map.groupBy(events, ({ subject }) => subject)
  const expected = ({ isCharged }: PlacedOrder): string[] => [
    'invoice-created: draft',
    'invoice-issued: unpaid',
    ...(isCharged ? ['invoice-paid: paid'] : []),
    'subscription-activated: active',
    'subscription-created: pending',
    ...(isCharged ? ['transaction-processed: approved'] : []),
  ]
  const eventsOf = ({ id }: PlacedOrder): string[] => (written.get(id) ?? []).map(({ event }) => event).sort()
  expect(
    orders
      .filter((order) => String(eventsOf(order)) !== String(expected(order)))
      .map((order) => ({ order, events: eventsOf(order) })),
  ).toEqual([])
  const ofOrders = new Set(orders.map(({ id }) => id))
  expect(events.filter(({ subject }) => !ofOrders.has(subject))).toEqual([])

  const verifier = createVerifier({ issuer: `${environment.baseUrl}/`, organizationId })
  const ids = new Set(events.map(({ id }) => id))
  const received = new Set<string>()
  for (const { event, headers, body, at } of receiver.received) {
    if (!ids.has(event.eventId)) continue
    await verifier.verify(String(headers['security-signature']), body, new Date(at))
    received.add(event.eventId)
  }
  expect(events.filter(({ id }) => !received.has(id))).toEqual([])
}

function bySubscription(
  a: { readonly subscription_id: string },
  b: { readonly subscription_id: string },
): number {
  return a.subscription_id < b.subscription_id ? -1 : 1
}
