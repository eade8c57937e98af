/** The first of three steps of a payment (decisions 6.5); then `gateways/movement.ts` and `record-result.ts`. */
import { canonicalJson } from '../../billing/canonical-json.ts'
import { cardIsExpired } from '../../billing/cards.ts'
import type { Contact } from '../../billing/contacts.ts'
import { InvalidFieldsError } from '../../billing/errors.ts'
import { nextInquiry } from '../../billing/inquiry-schedule.ts'
import { amountDue, type Invoice as InvoiceState, isOpen } from '../../billing/invoices.ts'
import { amountProblem, isZero, Money, sumOf } from '../../billing/money.ts'
import { beginCallersCharge, requireNoCharge } from '../../billing/order-payments.ts'
import { refundable, sharesOf } from '../../billing/refund-shares.ts'
import type { RiskInput } from '../../billing/risk.ts'
import { takesMoney } from '../../billing/transactions.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Customer, Invoice, Transaction, Website } from '../../db/entities/index.ts'
import type { PaymentInstruction } from '../../db/entities/transaction.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { refundedEntries, transactionEntries } from '../../events/timeline.ts'
import { transactionEvent } from '../../events/transaction-events.ts'
import type { InvoicesRecord } from '../invoices/invoices-record.ts'
import { orderInstant } from '../orders/order-instant.ts'
import { type OrderRisk, orderRisk } from '../orders/order-risk.ts'
import { type References, references } from '../references.ts'
import {
  advanceLocked,
  applyToInvoices,
  type LockedInvoice,
  lockInvoices,
  lockOwners,
  payInvoices,
  refundInvoices,
  withApplied,
} from './apply-payment.ts'
import { ownInstrument } from './own-instrument.ts'
import { owedOf, paidOf, recordRefund, refundsOf } from './refund-sales.ts'
import type { RequestCards } from './request-cards.ts'
import { aboutInvoices, inheritedBy, routeOfSale } from './transaction-members.ts'
import { readScope, type Scope, scopeOf } from './transaction-scope.ts'

interface TransactionDetails {
  /** Default: that of the first invoice, else of the customer; of a refund, capture or void, that of its parent. */
  readonly websiteId?: string | null
  /** Default: that of the card, or of the parent. */
  readonly billingAddress?: Contact | null
  readonly description?: string | null
  readonly customFields?: Record<string, unknown>
}

export interface Sale extends TransactionDetails {
  /** Default: a sale. An authorization pays no invoices: its capture does. */
  readonly type?: 'sale' | 'authorize'
  readonly customerId: string
  readonly currency: string
  /** A decimal string. */
  readonly amount: string
  readonly paymentInstruction: PaymentInstruction
  /** The open invoices it pays, in this order. */
  readonly invoiceIds: readonly string[]
  /** Default: what was captured with the card. */
  readonly riskMetadata?: RiskInput | null
  /** True if the customer is not there to approve the charge. */
  readonly isMerchantInitiated?: boolean
  /** Where the customer comes back to after approving it; null: to a page of this service. */
  readonly redirectUrl?: string | null
}

/** What a caller says of a refund, capture or void: what it repeats of its parent has to be the same. */
export interface OfParent extends TransactionDetails {
  readonly parentTransactionId: string
  readonly currency: string | null
  readonly customerId: string | null
  readonly paymentInstruction?: PaymentInstruction | null
}

export interface RefundOf extends OfParent {
  /** A decimal string; null: the refundable amount. */
  readonly amount: string | null
  /** True if the money was returned outside of this service. */
  readonly isProcessedOutside?: boolean
}

export interface Names {
  readonly id: string
  readonly requestId: string
}

/** All null for money that moves outside of this service. */
interface Route {
  readonly gateway: string | null
  readonly gatewayReference: string | null
  readonly cardFingerprint: string | null
  readonly bin: string | null
}

const EXTERNAL: Route = { gateway: null, gatewayReference: null, cardFingerprint: null, bin: null }

interface CardRoute extends Route {
  readonly billingAddress: Contact | null
  readonly riskMetadata: OrderRisk | null
}

/**
 * A payment token is consumed last. An external sale is created approved and emits `transaction-processed`.
 * Throws InvalidFieldsError, or ConflictError while a charge of one of its invoices is in progress.
 */
export async function startSale(
  unit: UnitOfWork,
  cards: RequestCards,
  names: Names,
  sale: Sale,
): Promise<Transaction> {
  const found = references(unit)
  // Lock order: orders before what they refer to, the customer before credit memos.
  const owners = await lockOwners(unit, sale.invoiceIds)
  const customer = await found.required(Customer, 'customerId', sale.customerId)
  const invoices = await advanceLocked(unit, owners, (row) => orderInstant(unit, row))
  await found.optional(Website, 'websiteId', sale.websiteId ?? null)
  const problem = amountProblem(sale.amount, sale.currency)
  if (problem !== null) found.fail('amount', problem.code, problem.message)
  checkInvoices(found, sale, invoices)
  const instant = invoices[0]?.instant ?? unit.now.getTime()
  const { billingAddress, riskMetadata, ...route } = await routeOf(
    unit,
    cards,
    found,
    { ...sale, instant },
    () => {
      found.check()
      for (const { record, sequence } of invoices) requireNoCharge(stateOf(record, sequence))
    },
  )
  const scope = scopeOf(unit, invoices, customer)
  const address = sale.billingAddress ?? billingAddress
  const transaction = addTransaction(unit, names, scope, {
    type: sale.type ?? 'sale',
    invoiceIds: [...sale.invoiceIds],
    ...aboutInvoices(invoices.map(({ row }) => row)),
    retryNumber: 0,
    websiteId: sale.websiteId ?? scope.websiteId,
    billingAddress: address,
    riskMetadata: await orderRisk(unit, sale.riskMetadata ?? null, address, null, () => ({
      risk: riskMetadata,
      card: route.cardFingerprint,
    })),
    description: sale.description ?? null,
    customFields: sale.customFields ?? {},
    customerId: sale.customerId,
    currency: sale.currency,
    amount: sale.amount,
    paymentInstruction: sale.paymentInstruction,
    parentTransactionId: null,
    shares: {},
    isMerchantInitiated: sale.isMerchantInitiated ?? false,
    redirectUrl: sale.redirectUrl ?? null,
    ...route,
  })
  if (transaction.result === 'approved') await payInvoices(unit, transaction, invoices)
  else {
    await applyToInvoices(unit, invoices, transaction, ({ record, sequence, instant }) =>
      beginCallersCharge(record.order, instant, sequence),
    )
  }
  return transaction
}

export function checkInvoices(
  found: References,
  sale: Pick<Sale, 'customerId' | 'currency' | 'amount' | 'invoiceIds'>,
  invoices: readonly LockedInvoice[],
): void {
  for (const [index, id] of sale.invoiceIds.entries()) {
    const locked = invoices.find((one) => one.id === id)
    const field = `invoiceIds.${index}`
    if (locked === undefined) {
      found.missing(Invoice, field)
      continue
    }
    if (locked.row.customerId !== sale.customerId)
      found.fail(field, 'mismatch', 'must be an invoice of the customer')
    else if (locked.row.currency !== sale.currency) {
      found.fail(field, 'mismatch', `must have the currency of the payment: ${sale.currency}`)
    } else if (!isOpen(stateOf(locked.record, locked.sequence))) {
      found.fail(field, 'inactive', 'must be an issued invoice that is not yet paid')
    }
  }
  if (invoices.length === 0) return
  const due = sumOf(invoices.map(({ record, sequence }) => amountDue(stateOf(record, sequence))))
  if (new Money(sale.amount).greaterThan(due)) {
    found.fail('amount', 'out-of-range', `must not exceed the amount due of the invoices: ${due}`)
  }
}

export function stateOf({ order }: InvoicesRecord, sequence: number): InvoiceState {
  const state = order.invoices.find((one) => one.sequence === sequence)
  if (state === undefined) throw new Error('an invoice that was asked for is not in the record of its order')
  return state
}

/** Refunds an approved sale; money returned outside is recorded as approved. Throws InvalidFieldsError. */
export async function startRefund(unit: UnitOfWork, names: Names, refund: RefundOf): Promise<Transaction> {
  const { em, organizationId } = unit
  const found = references(unit)
  const field = 'parentTransactionId'
  const before = await em.findOne(Transaction, { organizationId, id: refund.parentTransactionId })
  // An external refund is created approved and changes the invoices, so their orders are locked first.
  const isOutside = refund.isProcessedOutside === true || before?.gateway == null
  const paidInvoiceIds = isOutside ? (before?.invoiceIds ?? []) : []
  const locked = await lockInvoices(unit, paidInvoiceIds, (row) => orderInstant(unit, row))
  const parent = await lockRow(unit, Transaction, refund.parentTransactionId)
  if (parent === null) {
    const message = 'must be the id of an existing transaction'
    throw new InvalidFieldsError([{ field, code: 'not-found', message }])
  }
  if (!takesMoney(parent.type) || parent.result !== 'approved') {
    const message = 'must be an approved sale or capture'
    throw new InvalidFieldsError([{ field, code: 'inactive', message }])
  }
  const invoices = isOutside
    ? await withApplied(unit, parent, locked, (row) => orderInstant(unit, row))
    : locked
  checkAgainstParent(found, parent, refund)
  const paid = paidOf(parent)
  const refunds = await refundsOf(unit, parent.id)
  const left = refundable(paid, refunds)
  const amount = refund.amount ?? left
  const problem = amountProblem(amount, parent.currency)
  if (isZero(left))
    found.fail('amount', 'out-of-range', 'must not exceed the refundable amount of the sale: 0')
  else if (problem !== null) found.fail('amount', problem.code, problem.message)
  else if (new Money(amount).greaterThan(left))
    found.fail('amount', 'out-of-range', `must not exceed the refundable amount of the sale: ${left}`)
  found.check()
  const scope = await readScope(unit, invoices, parent)
  const transaction = addTransaction(unit, names, scope, {
    type: 'refund',
    invoiceIds: [],
    customerId: parent.customerId,
    currency: parent.currency,
    amount,
    paymentInstruction: parent.paymentInstruction,
    parentTransactionId: parent.id,
    shares: sharesOf(paid, refunds, amount, owedOf(parent)),
    ...inheritedBy(parent),
    billingAddress: refund.billingAddress ?? parent.billingAddress ?? null,
    description: refund.description ?? null,
    customFields: refund.customFields ?? {},
    ...(isOutside ? { ...EXTERNAL, bin: parent.bin ?? null } : routeOfSale(parent)),
  })
  const { revision } = parent
  parent.childTransactions = [...parent.childTransactions, transaction.id]
  if (transaction.result === 'approved') {
    for (const entry of refundedEntries(parent, transaction, scope.time)) unit.addTimelineEntry(entry)
    await refundInvoices(unit, transaction, invoices)
    await recordRefund(unit, parent, true)
  }
  if (parent.revision === revision) raiseRevision(parent, unit)
  return transaction
}

export function checkAgainstParent(
  found: References,
  parent: Transaction,
  { currency, customerId, paymentInstruction = null, websiteId = null }: OfParent,
): void {
  const noun = parent.type === 'authorize' ? 'authorization' : parent.type
  if (currency !== null && currency !== parent.currency) {
    found.fail('currency', 'mismatch', `must be the currency of the ${noun}: ${parent.currency}`)
  }
  if (customerId !== null && customerId !== parent.customerId) {
    found.fail('customerId', 'mismatch', `must be the customer of the ${noun}`)
  }
  if (
    paymentInstruction !== null &&
    canonicalJson(paymentInstruction) !== canonicalJson(parent.paymentInstruction)
  ) {
    found.fail('paymentInstruction', 'mismatch', `must be that of the ${noun}`)
  }
  if (websiteId !== null && websiteId !== (parent.websiteId ?? null)) {
    found.fail('websiteId', 'mismatch', `must be the website of the ${noun}`)
  }
}

/** `check` runs before a token is consumed. */
async function routeOf(
  unit: UnitOfWork,
  cards: RequestCards,
  found: References,
  {
    customerId,
    currency,
    paymentInstruction,
    isMerchantInitiated = false,
    instant,
  }: Sale & { readonly instant: number },
  check: () => void,
): Promise<CardRoute> {
  if ('token' in paymentInstruction) {
    check()
    const card = await cards.use(unit, {
      field: 'paymentInstruction.token',
      token: paymentInstruction.token,
      options: { currency, isForPresentCustomer: !isMerchantInitiated },
    })
    return {
      gateway: card.gatewayName,
      gatewayReference: card.reference,
      cardFingerprint: card.fingerprint,
      bin: card.bin,
      billingAddress: card.billingAddress,
      riskMetadata: card.riskMetadata,
    }
  }
  if (!('paymentInstrumentId' in paymentInstruction)) {
    check()
    return { ...EXTERNAL, billingAddress: null, riskMetadata: null }
  }
  const field = 'paymentInstruction.paymentInstrumentId'
  const { paymentInstrumentId } = paymentInstruction
  const instrument = await ownInstrument(found, field, paymentInstrumentId, customerId)
  if (instrument !== null && !['active', 'expired'].includes(instrument.status)) {
    found.fail(field, 'inactive', 'must be an active payment instrument')
  } else if (instrument !== null && cardIsExpired(instrument.expMonth, instrument.expYear, instant)) {
    // By the date alone: the status may be by the clock of an order that was moved ahead.
    found.fail(field, 'expired', 'must be a card that has not expired')
  }
  check()
  return {
    gateway: instrument?.gateway ?? null,
    gatewayReference: instrument?.gatewayReference ?? null,
    cardFingerprint: instrument?.cardFingerprint ?? null,
    bin: instrument?.bin ?? null,
    billingAddress: instrument?.billingAddress ?? null,
    riskMetadata: instrument?.riskMetadata ?? null,
  }
}

/**
 * Creates a transaction: pending under its request id, for the gateway to be asked once this has committed. Money that moved
 * outside of the service (`gateway` null) is approved at once, with its event and timeline entry.
 */
export function addTransaction(
  unit: UnitOfWork,
  { id, requestId }: Names,
  { websiteId, time }: Scope,
  values: Pick<
    Transaction,
    | 'type'
    | 'customerId'
    | 'currency'
    | 'amount'
    | 'paymentInstruction'
    | 'parentTransactionId'
    | 'invoiceIds'
    | 'shares'
    | 'websiteId'
    | 'subscriptionIds'
    | 'planIds'
    | 'isRebill'
    | 'rebillNumber'
    | 'retryNumber'
    | 'billingAddress'
    | 'riskMetadata'
    | 'description'
    | 'customFields'
  > &
    Partial<Pick<Transaction, 'isMerchantInitiated' | 'redirectUrl'>> &
    Route,
): Transaction {
  const isExternal = values.gateway === null
  const { now } = unit
  // If the process dies before the gateway responds, the sweep finds the transaction by this time.
  const inquiry = isExternal ? null : nextInquiry(now.getTime(), now.getTime())
  const transaction = unit.create(Transaction, {
    id,
    ...values,
    status: isExternal ? 'completed' : 'pending',
    result: isExternal ? 'approved' : null,
    processedTime: isExternal ? now : null,
    childTransactions: [],
    undelivered: [],
    requestId: isExternal ? null : requestId,
    nextInquiryTime: inquiry === null ? null : new Date(inquiry),
  })
  if (isExternal) {
    unit.emit(transactionEvent(transaction, 'transaction-processed', unit, time, websiteId))
    for (const entry of transactionEntries(transaction, 'transaction-approved', time, { cause: 'api' })) {
      unit.addTimelineEntry(entry)
    }
  }
  return transaction
}
