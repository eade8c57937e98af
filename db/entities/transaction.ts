import { defineEntity, p } from '@mikro-orm/core'
import {
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

export type TransactionType = 'sale' | 'refund'
/** `canceled`: the gateway never got it. */
export type TransactionResult = 'approved' | 'declined' | 'unknown' | 'canceled'
/** `pending` until the outcome is known. */
export type TransactionStatus = 'pending' | 'completed'
/** How it is paid, as it was asked for. */
export type PaymentInstruction =
  | { readonly method: 'external' }
  | { readonly token: string }
  | { readonly paymentInstrumentId: string }

/** What `q` searches. */
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
    /** Invoices a sale pays, in this order. */
    invoiceIds: json<string[]>().default('[]'),
    /** What an approved sale paid of them, decimal strings by invoice id. */
    payments: json<Record<string, string>>().nullable(),
    /** What a refund gives back of them, decimal strings by invoice id; the rest of it is of no invoice. */
    shares: json<Record<string, string>>().default('{}'),
    /** The order that makes this charge by itself and asks for its outcome; null: a caller does, and its own workflow. */
    subscriptionId: id().nullable(),
    /** When that order made it, on its own clock. */
    chargedTime: instant().nullable(),
    status: p.string().length(20).$type<TransactionStatus>().default('completed'),
    /** null while the gateway was not asked, or had no chance to answer. */
    result: p.string().length(20).$type<TransactionResult>().nullable(),
    /** null where no gateway has a part in it. */
    gateway: p.string().length(50).nullable(),
    /** Names the movement of money at the gateway, for good. */
    requestId: p.string().length(150).nullable(),
    rawResponse: p.text().nullable(),
    /** What the gateway knows the card by; never shown. */
    gatewayReference: p.string().nullable(),
    /** Keyed hash of the card's number; never shown. */
    cardFingerprint: p.string().length(64).nullable(),
    /** When a pending one is asked about; null: never, or never again. */
    nextInquiryTime: instant().nullable(),
    /**
     * What the service owes of a sale, in these five: the invoices whose money goes back in whole, because what they bill
     * will not be delivered; how many refunds it has begun for that; how many of them in a row moved no money; what of the
     * debt has not gone back yet, a decimal string; and when the next refund is begun, null: one is under way, nothing is
     * owed, or an operator was told that nothing helps.
     */
    undelivered: json<string[]>().default('[]'),
    refundsBegun: p.integer().default(0),
    refundsFailed: p.integer().default(0),
    owedAmount: p.decimal().precision(18).scale(6).default('0').$type<string>(),
    nextRefundTime: instant().nullable(),
    /** When a day had passed without an outcome. */
    timeoutTime: instant().nullable(),
    ...quarantineColumns,
    ...resourceColumns,
  },
})

/** Money that moved, or was meant to. */
export class Transaction extends TransactionSchema.class {}
TransactionSchema.setClass(Transaction)
