import {
  Customer,
  Dispute,
  GatewayAccount,
  Invoice,
  Organization,
  PaymentInstrument,
  Transaction,
  Website,
} from '../../db/entities/index.ts'
import { plainRowReader } from '../../db/plain-rows.ts'
import { statement } from '../../db/statement.ts'
import { presentCustomer } from '../../representations/customer.ts'
import { presentDispute } from '../../representations/dispute.ts'
import { presentGatewayAccount } from '../../representations/gateway-account.ts'
import { presentInvoice } from '../../representations/invoice.ts'
import { presentOrganization } from '../../representations/organization.ts'
import { presentPaymentInstrument } from '../../representations/payment-instrument.ts'
import { accountOf, presentTransaction } from '../../representations/transaction.ts'
import { presentWebsite } from '../../representations/website.ts'
import { embedding } from '../resources/embedding.ts'
import { alwaysNull, type Expander } from '../resources/resource.ts'

type Expanders = Readonly<Record<string, Expander<Transaction>>>

export const transactionExpanders: Expanders = {
  parentTransaction: embedding(Transaction, (row) => row.parentTransactionId ?? null, presentTransaction),
  async childTransactions(rows, { em, organizationId, baseUrl }) {
    const ids = rows.flatMap(({ childTransactions }) => childTransactions)
    const found = await em.find(Transaction, { organizationId, id: { $in: ids } })
    return many(
      rows,
      ({ childTransactions }) => childTransactions,
      byId(found),
      (child) => presentTransaction(child, baseUrl),
    )
  },
  gatewayAccount: embedding(GatewayAccount, accountOf, presentGatewayAccount),
  customer: embedding(Customer, (row) => row.customerId, presentCustomer),
  leadSource: embedding(
    Customer,
    (row) => row.customerId,
    (customer) => customer.leadSource ?? null,
  ),
  website: embedding(Website, (row) => row.websiteId ?? null, presentWebsite),
  async invoices(rows, { em, organizationId, baseUrl }) {
    const ids = rows.flatMap(({ invoiceIds }) => invoiceIds)
    const found = await em.find(Invoice, { organizationId, id: { $in: ids } })
    return many(
      rows,
      ({ invoiceIds }) => invoiceIds,
      byId(found),
      (invoice) => presentInvoice(invoice, baseUrl),
    )
  },
  async organization(rows, { em, organizationId, baseUrl }) {
    const organization = await em.findOneOrFail(Organization, { id: organizationId })
    return new Map(rows.map(({ id }) => [id, presentOrganization(organization, baseUrl)]))
  },
  /** The latest dispute. */
  async dispute(rows, { em, organizationId, baseUrl }) {
    const found = await statement<Record<string, unknown>>(
      em,
      'find-latest-disputes',
      `select dispute.* from jsonb_array_elements_text(?::jsonb) as given (id), lateral (
         select * from disputes where organization_id = ? and transaction_id = given.id
          order by created_time desc, id desc limit 1) dispute`,
      [JSON.stringify(rows.map(({ id }) => id)), organizationId],
    )
    const disputes = found.map(plainRowReader(em, Dispute))
    return new Map(disputes.map((dispute) => [dispute.transactionId, presentDispute(dispute, baseUrl)]))
  },
  paymentCard: embedding(
    PaymentInstrument,
    ({ paymentInstruction }) =>
      'paymentInstrumentId' in paymentInstruction ? paymentInstruction.paymentInstrumentId : null,
    presentPaymentInstrument,
  ),
  bankAccount: alwaysNull,
}

function byId<T extends { id: string }>(found: readonly T[]): ReadonlyMap<string, T> {
  return new Map(found.map((one) => [one.id, one]))
}

function many<T>(
  rows: readonly Transaction[],
  idsOf: (row: Transaction) => readonly string[],
  found: ReadonlyMap<string, T>,
  present: (one: T) => object,
): ReadonlyMap<string, object[]> {
  return new Map(
    rows.map((row) => [
      row.id,
      idsOf(row).flatMap((id) => (found.has(id) ? [present(found.get(id) as T)] : [])),
    ]),
  )
}
