/** Payments of a service without a worker: a test runs the activities itself, as often as it likes. */
import type { OrderAdvancer } from '../../activities/advance-order.ts'
import { composedStatement } from '../../db/statement.ts'
import { inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import { createGateway } from '../../gateways/gateways.ts'
import type { Gateway } from '../../gateways/port.ts'
import type { ApiClient } from './api-client.ts'
import { TEST_CARDS } from './cards.ts'
import { type Catalogue, catalogue, orderBody } from './catalogue.ts'
import { create } from './create.ts'
import { startService, type TestService } from './service.ts'
import { makeToken } from './tokens.ts'

export interface Payer {
  readonly customerId: string
  readonly paymentInstrumentId: string
}

export async function makePayer(api: ApiClient, pan: string = TEST_CARDS.approves): Promise<Payer> {
  const { id, defaultPaymentInstrument } = await create(api, 'customers', {
    paymentToken: await makeToken(api, pan),
  })
  const { paymentInstrumentId } = defaultPaymentInstrument as { paymentInstrumentId: string }
  return { customerId: String(id), paymentInstrumentId }
}

export interface PlacedOrder extends Payer {
  readonly id: string
  readonly invoiceId: string
}

export async function placeCharged(
  merchant: Catalogue,
  pan: string = TEST_CARDS.approves,
  members: object = {},
): Promise<PlacedOrder> {
  const payer = await makePayer(merchant.api, pan)
  const { customerId } = payer
  const { id, initialInvoiceId } = await create(
    merchant.api,
    'subscriptions',
    orderBody(merchant, { customerId, ...members }),
  )
  return { ...payer, id: String(id), invoiceId: String(initialInvoiceId) }
}

export interface Payments {
  readonly service: TestService
  readonly merchant: Catalogue
  readonly gateway: Gateway
  sql<T extends object>(text: string, values?: readonly unknown[]): Promise<T[]>
  /** Runs work of the merchant in one unit, `ahead` milliseconds from now. */
  inUnit<T>(work: (unit: UnitOfWork) => Promise<T>, ahead?: number): Promise<T>
  /** Input of an activity of the record's workflow, `ahead` milliseconds from now. */
  input(recordId: string, ahead?: number): Parameters<OrderAdvancer['advance']>[0]
  stop(): Promise<void>
}

/** Starts the service with a merchant and a gateway of the test's own to the same ledger. */
export async function startPayments(): Promise<Payments> {
  const service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
  const merchant = await catalogue(service)
  const gateway = createGateway('sandbox', service.databaseUrl, service.baseUrl)
  const { organizationId } = merchant
  const em = () => service.database.orm.em.fork()
  return {
    service,
    merchant,
    gateway,
    sql: (text, values = []) => composedStatement(em(), text, values),
    inUnit: (work, ahead = 0) =>
      inUnitOfWork(
        em(),
        { organizationId, baseUrl: service.baseUrl, now: new Date(Date.now() + ahead) },
        work,
      ),
    input: (recordId, ahead = 0) => ({ organizationId, recordId, clock: Date.now() + ahead, base: 0 }),
    async stop() {
      await gateway.close()
      await service.stop()
    },
  }
}
