/** What a body of `POST transactions` starts. Its type says which members it may have, and which it needs. */
import { type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { amountOf } from '../../billing/money.ts'
import { type CaptureOf, startCapture, startVoid } from '../../commands/payments/capture-authorization.ts'
import {
  type Names,
  type OfParent,
  type RefundOf,
  type Sale,
  startRefund,
  startSale,
} from '../../commands/payments/start-transaction.ts'
import type { Transaction as TransactionRow } from '../../db/entities/index.ts'
import type { PaymentInstruction } from '../../db/entities/transaction.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { OperationContext } from '../operation.ts'
import { contactOf } from '../schemas/contact.ts'
import { riskOf } from '../schemas/risk-metadata.ts'
import type { Transaction } from '../schemas/transaction.ts'

/** Throws InvalidFieldsError, ConflictError. */
export async function startOf(
  unit: UnitOfWork,
  names: Names,
  body: Transaction,
  { cards }: OperationContext,
): Promise<TransactionRow> {
  switch (body.type) {
    case 'sale':
    case 'authorize':
      return await startSale(unit, cards, names, saleOf(body, body.type))
    case 'refund':
      return await startRefund(unit, names, refundOf(body))
    case 'capture':
      return await startCapture(unit, names, captureOf(body))
    case 'void':
      return await startVoid(unit, names, ofParent(body))
  }
}

function saleOf(body: Transaction, type: 'sale' | 'authorize'): Sale {
  const { customerId, currency, amount } = body
  const paymentInstruction = instructionOf(body.paymentInstruction)
  const problems = [...unsupportedBySale(body, paymentInstruction), ...unreadableUrl(body)]
  if (customerId == null || currency == null || amount == null || paymentInstruction === null) {
    const needed = { customerId, currency, amount, paymentInstruction }
    const missing = Object.entries(needed).filter(([, value]) => value == null)
    throw new InvalidFieldsError([...problems, ...missing.map(([field]) => required(field))])
  }
  if (problems.length > 0) throw new InvalidFieldsError(problems)
  return {
    type,
    customerId,
    currency,
    amount: amountOf(amount),
    paymentInstruction,
    invoiceIds: body.invoiceIds ?? [],
    riskMetadata: riskOf(body.riskMetadata),
    isMerchantInitiated: body.isMerchantInitiated ?? false,
    redirectUrl: body.redirectUrl ?? null,
    ...detailsOf(body),
  }
}

function refundOf(body: Transaction): RefundOf {
  return {
    ...ofParent(body),
    amount: amountIn(body),
    isProcessedOutside: body.isProcessedOutside ?? false,
  }
}

function captureOf(body: Transaction): CaptureOf {
  return {
    ...ofParent(body),
    amount: amountIn(body),
    invoiceIds: body.invoiceIds ?? [],
  }
}

function ofParent(body: Transaction): OfParent {
  const { parentTransactionId, currency, customerId } = body
  const problems = unsupportedByChild(body)
  if (parentTransactionId == null)
    throw new InvalidFieldsError([...problems, required('parentTransactionId')])
  if (problems.length > 0) throw new InvalidFieldsError(problems)
  return {
    parentTransactionId,
    currency: currency ?? null,
    customerId: customerId ?? null,
    paymentInstruction: instructionOf(body.paymentInstruction),
    ...detailsOf(body),
  }
}

function detailsOf({ websiteId, billingAddress, description, customFields }: Transaction) {
  return {
    websiteId: websiteId ?? null,
    billingAddress: contactOf(billingAddress),
    description: description ?? null,
    customFields: customFields ?? {},
  }
}

function amountIn({ amount }: Transaction): string | null {
  return amount == null ? null : amountOf(amount)
}

/** Members of other types that a sale or an authorization has. */
function unsupportedBySale(
  { type, parentTransactionId, invoiceIds = [], isProcessedOutside }: Transaction,
  instruction: PaymentInstruction | null,
): InvalidField[] {
  const isAuthorization = type === 'authorize'
  const isExternal = instruction !== null && 'method' in instruction
  return [
    ...onlyFor('refunds, captures and voids', 'parentTransactionId', parentTransactionId != null),
    ...onlyFor('sales and captures', 'invoiceIds', isAuthorization && invoiceIds.length > 0),
    ...onlyFor('sales', 'paymentInstruction.method', isAuthorization && isExternal),
    ...onlyFor(
      'external payments and refunds',
      'isProcessedOutside',
      isProcessedOutside === true && !isExternal,
    ),
  ]
}

/** A URI by its characters need not be a URL: its host or port may be none. */
function unreadableUrl({ redirectUrl }: Transaction): InvalidField[] {
  if (redirectUrl == null || URL.canParse(redirectUrl)) return []
  return [{ field: 'redirectUrl', code: 'wrong-format', message: 'must be an http or https URL' }]
}

/** Members of other types that a refund, capture or void has. */
function unsupportedByChild(body: Transaction): InvalidField[] {
  const { type, invoiceIds = [], isMerchantInitiated, redirectUrl, isProcessedOutside, amount } = body
  const isOfRefund = type === 'refund'
  const wholeAmount = {
    field: 'amount',
    code: 'not-supported',
    message: 'is not supported for voids, which release the whole amount',
  } as const
  return [
    ...onlyFor('sales and captures', 'invoiceIds', type !== 'capture' && invoiceIds.length > 0),
    ...onlyFor('sales and authorizations', 'isMerchantInitiated', isMerchantInitiated === true),
    ...onlyFor('sales and authorizations', 'redirectUrl', redirectUrl != null),
    ...onlyFor(
      'external payments and refunds',
      'isProcessedOutside',
      isProcessedOutside === true && !isOfRefund,
    ),
    ...(type === 'void' && amount != null ? [wholeAmount] : []),
  ]
}

function onlyFor(types: string, field: string, isGiven: boolean): InvalidField[] {
  return isGiven ? [{ field, code: 'not-supported', message: `is supported for ${types} only` }] : []
}

function required(field: string): InvalidField {
  return { field, code: 'required', message: 'is required' }
}

/** The schema guarantees exactly one member. */
function instructionOf(given: Transaction['paymentInstruction']): PaymentInstruction | null {
  if (given == null) return null
  if (given.token !== undefined) return { token: given.token }
  if (given.paymentInstrumentId !== undefined) return { paymentInstrumentId: given.paymentInstrumentId }
  return { method: 'external' }
}
