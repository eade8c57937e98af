import { defineEntity, p } from '@mikro-orm/core'
import type { Contact } from '../../billing/contacts.ts'
import type { DisputeStatus } from '../../billing/disputes.ts'
import type { DerivedRisk, RiskInput } from '../../billing/risk.ts'
import type { TransactionStatus } from '../../billing/transactions.ts'
import {
  EMPTY_ARRAY,
  id,
  instant,
  json,
  listIndexes,
  quarantineColumns,
  quarantineIndex,
  resourceColumns,
  searchExpression,
  tenantKey,
} from './columns.ts'

export type TransactionType = 'sale' | 'refund' | 'authorize' | 'capture' | 'void'
/** The types whose approved transactions have taken money from the customer (`takesMoney`), for SQL. */
export const MONEY_TAKEN = `'sale', 'capture'`
/** `canceled`: the gateway never received it. `abandoned`: its customer did not approve it in time. */
export type TransactionResult = 'approved' | 'declined' | 'unknown' | 'canceled' | 'abandoned'
export type PaymentInstruction =
  | { readonly method: 'external' }
  | { readonly token: string }
  | { readonly paymentInstrumentId: string }

/** The latest dispute. */
export interface DisputeOfTransaction {
  readonly time: string
  readonly status: DisputeStatus
  /** True while any dispute of it is not won. */
  readonly isOpen: boolean
}

export const disputeOf = (organizationId: string, transactionId: string) =>
  `(select jsonb_build_object('time', dispute.posted_time, 'status', dispute.status,
      'isOpen', exists (select from disputes other where other.organization_id = ${organizationId}
        and other.transaction_id = ${transactionId} and other.status <> 'won'))
     from disputes dispute where dispute.organization_id = ${organizationId} and dispute.transaction_id = ${transactionId}
    order by dispute.created_time desc, dispute.id desc limit 1)`

export const isExpiredAuthorization = (expiryTime: string) => `coalesce(${expiryTime} <= now(), false)`

export const transactionSearch = searchExpression(
  'customer_id',
  'currency',
  'type',
  'result',
  'status',
  'request_id',
)

const TransactionSchema = defineEntity({
  name: 'Transaction',
  tableName: 'transactions',
  indexes: [
    quarantineIndex('transactions'),
    ...listIndexes('transactions', transactionSearch),
    { name: 'transactions_customer_index', properties: ['organizationId', 'customerId'] },
    {
      name: 'transactions_inquiry_index',
      expression:
        'create index "transactions_inquiry_index" on "transactions" ("next_inquiry_time") where "status" = \'pending\'',
    },
    {
      name: 'transactions_refund_index',
      expression:
        'create index "transactions_refund_index" on "transactions" ("next_refund_time") where "next_refund_time" is not null',
    },
    {
      name: 'transactions_parent_index',
      expression:
        'create index "transactions_parent_index" on "transactions" ("organization_id", "parent_transaction_id") where "parent_transaction_id" is not null',
    },
    {
      name: 'transactions_card_index',
      expression:
        'create index "transactions_card_index" on "transactions" ("organization_id", "card_fingerprint", "created_time") where "card_fingerprint" is not null',
    },
    {
      name: 'transactions_gateway_id_index',
      expression:
        'create index "transactions_gateway_id_index" on "transactions" ("organization_id", "gateway_transaction_id") where "gateway_transaction_id" is not null',
    },
    { name: 'transactions_website_index', properties: ['organizationId', 'websiteId'] },
    {
      name: 'transactions_invoice_index',
      expression:
        'create index "transactions_invoice_index" on "transactions" using gin ("organization_id", "invoice_ids" jsonb_path_ops)',
    },
    {
      name: 'transactions_request_index',
      expression:
        'create unique index "transactions_request_index" on "transactions" ("organization_id", "request_id") where "request_id" is not null',
    },
  ],
  properties: {
    ...tenantKey,
    type: p.string().length(20).$type<TransactionType>(),
    customerId: id(),
    currency: p.string().length(3),
    /** A decimal string. */
    amount: p.decimal().precision(18).scale(6).$type<string>(),
    paymentInstruction: json<PaymentInstruction>(),
    parentTransactionId: id().nullable(),
    /** Oldest first. */
    childTransactions: json<string[]>().defaultRaw(EMPTY_ARRAY),
    websiteId: id().nullable(),
    /** As they were when it began. */
    subscriptionIds: json<string[]>().defaultRaw(EMPTY_ARRAY),
    planIds: json<string[]>().defaultRaw(EMPTY_ARRAY),
    isRebill: p.boolean().default(false),
    /** The period of the first invoice; 0 is the trial. */
    rebillNumber: p.integer().nullable(),
    /** Automatic charges of that invoice before this one. */
    retryNumber: p.integer().default(0),
    billingAddress: json<Contact>().nullable(),
    bin: p.string().length(6).nullable(),
    riskMetadata: json<RiskInput & DerivedRisk>().nullable(),
    description: p.text().nullable(),
    customFields: json<Record<string, unknown>>().nullable(),
    /** When its outcome became known; real time. */
    processedTime: instant().nullable(),
    /** Computed when the row is read, because a dispute does not change the transaction. */
    dispute: json<DisputeOfTransaction>()
      .formula((columns) => disputeOf(`${columns.organizationId}`, `${columns.id}`))
      .nullable(),
    /** True if an authorization has ended by itself. Computed when the row is read: nothing is done at that instant. */
    isExpired: p
      .boolean()
      .formula((columns) => isExpiredAuthorization(`${columns.authorizationExpiryTime}`))
      .nullable(),
    /** In the order of payment. */
    invoiceIds: json<string[]>().default('[]'),
    /** Decimal strings by invoice id, and by OVERPAID what an invoice was paid too much. */
    payments: json<Record<string, string>>().nullable(),
    /** Decimal strings by invoice id; the remainder belongs to no invoice. */
    shares: json<Record<string, string>>().default('{}'),
    /** The order that charges automatically; null: a caller's charge, with its own workflow. */
    subscriptionId: id().nullable(),
    /** On that order's own clock. */
    chargedTime: instant().nullable(),
    isMerchantInitiated: p.boolean().default(false),
    /** null: a page of this service. */
    redirectUrl: p.text().nullable(),
    /** null: the bank has not asked for an approval. */
    approvalUrl: p.text().nullable(),
    /** When an approved authorization ends by itself; null: the gateway names no time. */
    authorizationExpiryTime: instant().nullable(),
    /**
     * Shown as `waiting-approval` while the customer is asked, as `voided` when an authorization has ended, and as
     * `disputed` with an open dispute.
     */
    status: p.string().length(20).$type<TransactionStatus>().default('completed'),
    /** null until the gateway was called, or could respond. */
    result: p.string().length(20).$type<TransactionResult>().nullable(),
    /** null for money that moves outside of this service. */
    gateway: p.string().length(50).nullable(),
    /** The permanent name of the transaction at the gateway. */
    requestId: p.string().length(150).nullable(),
    rawResponse: p.text().nullable(),
    gatewayTransactionId: p.string().nullable(),
    /** One of the classes of the port. */
    declineClass: p.string().length(30).nullable(),
    /** Never public; nor is the fingerprint, a keyed hash of the number. */
    gatewayReference: p.string().nullable(),
    cardFingerprint: p.string().length(64).nullable(),
    /** When the gateway is asked; null: not, or no more. */
    nextInquiryTime: instant().nullable(),
    /**
     * What the service owes of a sale: the invoices to refund in full, the refunds begun, those of them in a
     * row that moved no money, the debt (a decimal string), and when the next refund begins. null there: one
     * is pending, nothing is owed, or an operator was alerted.
     */
    undelivered: json<string[]>().defaultRaw(EMPTY_ARRAY),
    /** True of a sale without invoices of which a caller has applied a part to one: what no invoice uses stays the merchant's. */
    keepsRest: p.boolean().default(false),
    refundsBegun: p.integer().default(0),
    refundsFailed: p.integer().default(0),
    owedAmount: p.decimal().precision(18).scale(6).default('0').$type<string>(),
    nextRefundTime: instant().nullable(),
    /** When its outcome had been unknown for a day. */
    timeoutTime: instant().nullable(),
    /** The credit memo that a refund pays back. */
    creditMemoId: id().nullable(),
    ...quarantineColumns,
    ...resourceColumns,
  },
})

export class Transaction extends TransactionSchema.class {}
TransactionSchema.setClass(Transaction)
