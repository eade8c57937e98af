/** Invoices: pricing one of many lines, orders with plans of their own, a year of renewals, and a document. */
import { setTimeout as delay } from 'node:timers/promises'
import type { RedeemedCoupon } from '../../billing/coupons.ts'
import { type Order, placeOrder } from '../../billing/order.ts'
import { advanceThrough } from '../../billing/order-lifecycle.ts'
import { NO_REMINDERS, type OrderTerms, type PricedItem } from '../../billing/order-terms.ts'
import { taxTotals } from '../../billing/taxes.ts'
import { type InvoiceDocument, invoicePdf } from '../../documents/invoice-document.ts'
import { orderBody } from '../../test/support/catalogue.ts'
import { create as make } from '../../test/support/create.ts'
import { makePayer } from '../../test/support/payments.ts'
import type { Environment } from '../environment.ts'
import type { Metric } from '../metric.ts'
import { median, percentile } from '../statistics.ts'
import { placeOrders } from './create.ts'
import type { ScenarioContext } from './scenario.ts'

const LINES = 50
const START = Date.parse('2027-01-01')
const DAY = 86_400_000
const INVOICES = 2_000
const DOCUMENTS = 100
const ROUND = 5_000
const YEARS = 10
const INLINE_AIM = 0.8
const FORWARD_WITHIN = 60_000
/** For the orders that the part before has left. Milliseconds. */
const DRAINED_WITHIN = 600_000
const POLL = 20

export async function pricing(context: ScenarioContext): Promise<Metric[]> {
  const pure = [issued(context), await documents(context)]
  const environment = await context.environment()
  // The orders of inline plans stay behind, and a worker would start every one of them before the year.
  const forwarded = await year(context, environment)
  return [...pure, await inlinePlans(context, environment), forwarded]
}

/** An order with 50 items, 3 coupons and two rates of tax, by the pure rules alone. */
function bigOrder(): Order {
  const item = (index: number): PricedItem => ({
    id: `item-${index}`,
    quantity: 1 + (index % 7),
    plan: {
      id: `plan-${index}`,
      name: `Plan ${index}`,
      productId: index % 2 === 0 ? 'book' : 'seat',
      currency: 'EUR',
      pricing: { formula: 'flat-rate', price: String(9.99 + index) },
      recurringInterval: { unit: 'month', length: 1, limit: null },
      trial: null,
      isTrialOnly: false,
      setup: null,
      invoiceTimeShift: null,
    },
  })
  const coupon = (couponId: string, discount: RedeemedCoupon['discount']): RedeemedCoupon => ({
    couponId,
    redemptionId: couponId,
    description: couponId,
    discount,
    restrictions: [],
    expiredTime: null,
    discountsBefore: 0,
  })
  const vat = (rate: string) => [{ name: 'VAT', rate, country: 'DE', region: null }]
  const terms: OrderTerms = {
    currency: 'EUR',
    createdTime: START,
    startTime: START,
    abandonTime: null,
    items: Array.from({ length: LINES }, (_, index) => item(index)),
    trial: null,
    interval: { unit: 'month', length: 1, limit: null },
    invoiceTimeShift: null,
    delinquencyPeriod: null,
    shipping: null,
    coupons: [
      coupon('ten', { type: 'percent', value: '10' }),
      coupon('five', { type: 'percent', value: '5' }),
      coupon('fixed', { type: 'fixed', amount: '33.33', currency: 'EUR' }),
    ],
    taxes: [
      { from: 0, isInclusive: false, rates: vat('19'), shipping: vat('19'), byProduct: { book: vat('7') } },
    ],
    canCharge: false,
    instrumentId: null,
    autopayRetries: [],
    paydays: [],
    declinedRenewalsLimit: null,
    reminders: NO_REMINDERS,
  }
  return placeOrder(terms).order
}

function issued({ divisor, rounds, say }: ScenarioContext): Metric {
  const order = bigOrder()
  const count = INVOICES / divisor
  const run = (): number => {
    const began = performance.now()
    for (let made = 0; made < count; made += 1) advanceThrough(order, START)
    return ((performance.now() - began) * 1000) / count
  }
  run()
  const service = Array.from({ length: rounds }, run)
  const [invoice] = advanceThrough(order, START).order.invoices
  if (
    invoice?.lines.length !== LINES ||
    invoice.discounts.length !== 3 ||
    taxTotals(invoice.lines).length !== 2
  ) {
    throw new Error('the invoice does not have its lines, discounts and taxes')
  }
  say(`pricing: ${median(service).toFixed(0)} µs to price and issue an invoice of ${LINES} lines`)
  return {
    what: `an invoice of ${LINES} lines, 3 coupons and 2 rates of tax, priced and issued`,
    unit: 'µs',
    service,
    baseline: [],
    aim: null,
    beside: { invoices: count },
    note: 'The pure rules alone: the draft of a pending order is priced for the instant and issued, without a database.',
  }
}

async function documents({ divisor, rounds, say }: ScenarioContext): Promise<Metric> {
  const order = advanceThrough(bigOrder(), START).order
  const [invoice] = order.invoices
  if (invoice === undefined) throw new Error('an order has an invoice')
  const document = documentOf(invoice)
  const times: number[] = []
  const run = async (): Promise<number> => {
    const count = Math.max(5, DOCUMENTS / divisor)
    const began = performance.now()
    for (let made = 0; made < count; made += 1) {
      const before = performance.now()
      await invoicePdf(document)
      times.push(performance.now() - before)
    }
    return (performance.now() - began) / count
  }
  const before = performance.now()
  const { length } = await invoicePdf(document)
  const first = performance.now() - before
  await run()
  times.length = 0
  const service: number[] = []
  for (let round = 1; round <= rounds; round += 1) service.push(await run())
  say(`pricing: ${median(service).toFixed(1)} ms for a document of ${LINES} lines`)
  return {
    what: `the PDF document of an invoice of ${LINES} lines`,
    unit: 'ms',
    service,
    baseline: [],
    aim: null,
    beside: { KB: length / 1000, 'p99 ms': percentile(times, 0.99), 'the first of a process, ms': first },
    note: 'In one process, one after another. The first of a process parses the fonts.',
  }
}

function documentOf({ lines, discounts, amount }: Order['invoices'][number]): InvoiceDocument {
  const nobody = { address: null, address2: null, city: null, region: null, country: 'DE', postalCode: null }
  const time = new Date(START)
  return {
    id: 'in_1',
    number: 1,
    status: 'unpaid',
    currency: 'EUR',
    issuer: {
      ...nobody,
      name: 'Benchmark',
      website: null,
      taxDescriptor: null,
      timeZone: 'UTC',
      phoneNumbers: [],
      emails: [],
    },
    logo: null,
    billTo: null,
    deliverTo: null,
    organizationTaxId: { type: 'eu-vat', value: 'DE123456789' },
    customerTaxId: null,
    issuedTime: time,
    dueTime: time,
    paidTime: null,
    voidedTime: null,
    poNumber: null,
    notes: null,
    lines: lines.map((line) => ({
      description: line.description,
      quantity: line.quantity,
      unitPrice: line.unitPrice ?? line.amount,
      amount: line.amount,
      period: { start: time, end: new Date(START + 31 * DAY) },
      taxRate: line.taxes?.[0]?.rate ?? null,
    })),
    discounts,
    taxes: taxTotals(lines),
    amount,
    amountPaid: '0',
    amountCredited: '0',
    amountRefunded: '0',
    amountDue: amount,
  }
}

/** Orders of a plan of their own beside orders of a plan that exists, in turns. */
async function inlinePlans(
  { divisor, rounds, say }: ScenarioContext,
  environment: Environment,
): Promise<Metric> {
  const { port, api } = environment
  const plan = {
    name: 'Monthly',
    currency: 'EUR',
    pricing: { formula: 'fixed-fee', price: 9.9 },
    recurringInterval: { unit: 'month', length: 1 },
  }
  const duration = ROUND / divisor
  const inline = () => placeOrders(environment, port, api.pid, duration, { items: [{ plan }] })
  const byReference = () => placeOrders(environment, port, api.pid, duration)
  await byReference()
  await inline()
  const service: Awaited<ReturnType<typeof inline>>[] = []
  const baseline: typeof service = []
  for (let round = 1; round <= rounds; round += 1) {
    const one = await inline()
    const other = await byReference()
    service.push(one)
    baseline.push(other)
    say(
      `inline plans ${round}/${rounds}: ${Math.round(one.result.rate)}/s, by reference ${Math.round(other.result.rate)}/s`,
    )
  }
  return {
    what: 'POST subscriptions with an inline plan, 20 clients, API alone',
    unit: '/s',
    service: service.map(({ result }) => result.rate),
    baseline: baseline.map(({ result }) => result.rate),
    aim: INLINE_AIM,
    beside: {
      'p50 ms': median(service.map(({ result }) => result.p50)),
      'p99 ms': median(service.map(({ result }) => result.p99)),
      'by reference, p50 ms': median(baseline.map(({ result }) => result.p50)),
      'by reference, p99 ms': median(baseline.map(({ result }) => result.p99)),
    },
    note: 'Webhook registered, worker stopped. Baseline: the same service, orders that name the plan by its id.',
  }
}

/** A year of monthly renewals of an order with a card, fast-forwarded: 12 invoices, 12 charges, their events. */
async function year({ divisor, say }: ScenarioContext, environment: Environment): Promise<Metric> {
  const worker = await environment.startWorker()
  await environment.drained(DRAINED_WITHIN)
  const { merchant } = environment
  const payer = await makePayer(merchant.api)
  const service: number[] = []
  let invoices = 0
  for (let round = 0; round <= Math.max(3, YEARS / divisor); round += 1) {
    const order = await make(merchant.api, 'subscriptions', orderBody(merchant, { ...payer, autopay: true }))
    await environment.drained(FORWARD_WITHIN)
    const began = performance.now()
    const to = new Date(Date.now() + 365 * DAY + DAY / 2).toISOString()
    const started = await merchant.api.post(`subscriptions/${order.id}/fast-forward`, { to })
    // The request itself waits a while for the end.
    let status = started.status === 200 ? 'completed' : 'running'
    const place = new URL(started.headers.get('location') ?? environment.receiverUrl).pathname
    while (status !== 'completed') {
      await delay(POLL)
      const { body } = await merchant.api.send('GET', place)
      status = String(body.status)
      if (status !== 'running' && status !== 'completed') throw new Error(JSON.stringify(body))
      if (performance.now() - began > FORWARD_WITHIN) throw new Error('the year took too long')
    }
    // The first year finds caches and connections cold.
    if (round > 0) service.push((performance.now() - began) / 1000)
    const paid = await environment.query<{ count: number }>(
      `select count(*)::int as count from invoices where subscription_id = $1 and status = 'paid'`,
      [order.id],
    )
    invoices = paid[0]?.count ?? 0
    if (invoices !== 13) throw new Error(`${invoices} of 13 invoices of a year are paid`)
  }
  await environment.drained(FORWARD_WITHIN)
  await worker.stop()
  say(`pricing: ${median(service).toFixed(2)} s for a year of monthly renewals`)
  return {
    what: 'a year of monthly renewals, fast-forwarded: 12 invoices with charges and events',
    unit: 's',
    service,
    baseline: [],
    aim: null,
    beside: { 'paid invoices': invoices, 'slowest s': Math.max(...service) },
    note: 'Aim: 2 s. From the request to the completed fast-forward, polled every 20 ms; the test gateway approves each charge.',
  }
}
