import type { Call } from '../call.ts'
import { CATALOGUE, CUSTOMER } from './setup.ts'

export const PAYMENT_TOKENS: readonly Call[] = [
  { operation: 'POST tokens', body: 'full', case: 'with every member', as: 'token' },
  { operation: 'POST tokens', body: 'nulls', case: 'with nulls' },
  { operation: 'GET tokens' },
  { operation: 'GET tokens/{token}', of: ['token'] },
  {
    operation: 'POST digital-wallets/validation',
    body: 'required',
    with: {
      validationRequest: {
        validationUrl: 'https://apple-pay-gateway.apple.com/paymentservices/startSession',
        domainName: 'shop.example',
        displayName: 'Shop',
      },
    },
  },
  { operation: 'POST digital-wallets/onboarding/apple-pay', body: 'given', with: { domain: 'shop.example' } },
]

const instrument = { method: 'payment-card', customerId: '{customer}', token: '{token}' }

export const PAYMENT_INSTRUMENTS: readonly Call[] = [
  ...CATALOGUE,
  ...CUSTOMER,
  { operation: 'POST tokens', body: 'full', case: 'with every member', as: 'token' },
  {
    operation: 'POST payment-instruments',
    body: 'full',
    case: 'of a payment token, with every member',
    with: instrument,
    // What identifies a card of the provider's own form stands in place of the token.
    omit: ['pan', 'cvv', 'expMonth', 'expYear', 'referenceData'],
    as: 'card',
  },
  { operation: 'POST tokens', body: 'full', case: 'with every member', as: 'token' },
  {
    operation: 'POST payment-instruments',
    body: 'nulls',
    case: 'of a payment token, with nulls',
    with: instrument,
    as: 'another',
  },
  { operation: 'GET payment-instruments' },
  { operation: 'GET payment-instruments/{id}', of: ['card'], as: 'card' },
  {
    operation: 'PATCH payment-instruments/{id}',
    body: 'given',
    with: { method: 'payment-card', expMonth: 11, expYear: 2091 },
    of: ['card'],
  },
  { operation: 'POST payment-instruments/{id}/deactivation', of: ['another'] },
  {
    operation: 'POST payment-instruments/{id}/name-inquiry',
    body: 'given',
    with: { gatewayAccountId: 'sample' },
    of: ['card'],
  },
]

const sale = { type: 'sale', paymentInstruction: { paymentInstrumentId: '{instrument}' } }

export const TRANSACTIONS: readonly Call[] = [
  ...CATALOGUE,
  ...CUSTOMER,
  {
    operation: 'POST transactions',
    body: 'full',
    case: 'as a sale, with every member',
    with: { ...sale, isProcessedOutside: false },
    omit: ['parentTransactionId', 'invoiceIds'],
    as: 'sale',
  },
  {
    operation: 'POST transactions',
    body: 'nulls',
    case: 'as a sale, with nulls',
    with: { ...sale, customerId: '{customer}', currency: 'EUR', amount: 10, invoiceIds: [] },
    as: 'second',
  },
  {
    operation: 'POST transactions',
    body: 'full',
    case: 'as an external payment, with every member',
    with: { type: 'sale', paymentInstruction: { method: 'external' } },
    omit: ['parentTransactionId', 'invoiceIds'],
  },
  {
    operation: 'POST transactions',
    body: 'given',
    case: 'as a refund',
    with: { type: 'refund', parentTransactionId: '{second}', amount: 2.5 },
  },
  {
    operation: 'POST transactions',
    body: 'full',
    case: 'as an authorization, with every member',
    with: { ...sale, type: 'authorize', isProcessedOutside: false },
    omit: ['parentTransactionId', 'invoiceIds'],
    as: 'held',
  },
  {
    operation: 'POST transactions',
    body: 'given',
    case: 'as a capture',
    with: { type: 'capture', parentTransactionId: '{held}', amount: 2.5 },
  },
  {
    operation: 'POST transactions',
    body: 'given',
    case: 'as another authorization',
    with: { ...sale, type: 'authorize', customerId: '{customer}', currency: 'EUR', amount: 10 },
    as: 'released',
  },
  {
    operation: 'POST transactions',
    body: 'given',
    case: 'as a void',
    with: { type: 'void', parentTransactionId: '{released}' },
  },
  { operation: 'GET transactions' },
  { operation: 'GET transactions/{id}', of: ['sale'], as: 'sale' },
  {
    operation: 'POST transactions/{id}/refund',
    body: 'full',
    case: 'with every member',
    sends: 'TransactionRefund',
    with: { amount: 2.5 },
    of: ['sale'],
  },
  {
    operation: 'POST transactions/{id}/refund',
    body: 'nulls',
    case: 'with nulls',
    sends: 'TransactionRefund',
    with: { amount: 1 },
    of: ['sale'],
  },
  {
    operation: 'PATCH transactions/{id}',
    body: 'given',
    with: { customFields: { channel: 'web' } },
    of: ['sale'],
  },
  { operation: 'POST transactions/{id}/query', of: ['sale'] },
  {
    operation: 'POST transactions/{id}/update',
    body: 'required',
    sends: 'TransactionUpdate',
    with: { result: 'approved' },
    of: ['sale'],
  },
  {
    operation: 'POST transactions/{id}/timeline',
    body: 'given',
    with: { message: 'Asked the bank.' },
    of: ['sale'],
    as: 'comment',
  },
  { operation: 'GET transactions/{id}/timeline', of: ['sale'] },
  { operation: 'GET transactions/{id}/timeline/{messageId}', of: ['sale', 'comment'] },
  { operation: 'DELETE transactions/{id}/timeline/{messageId}', of: ['sale', 'comment'] },
]

const account = { gatewayName: 'TestGateway', method: 'payment-card', acceptedCurrencies: ['EUR'] }

export const GATEWAY_ACCOUNTS: readonly Call[] = [
  {
    operation: 'POST gateway-accounts',
    body: 'full',
    case: 'with every member',
    with: account,
    as: 'account',
  },
  { operation: 'POST gateway-accounts', body: 'nulls', case: 'with nulls', with: account, as: 'another' },
  { operation: 'GET gateway-accounts' },
  { operation: 'GET gateway-accounts/{id}', of: ['account'], as: 'account' },
  {
    operation: 'PUT gateway-accounts/{id}',
    body: { held: 'account' },
    case: 'with what was read',
    of: ['account'],
  },
  {
    operation: 'PUT gateway-accounts/{id}',
    body: 'full',
    case: 'with every member, of a new id',
    with: account,
    of: ['=europe'],
    status: 201,
  },
  {
    operation: 'PATCH gateway-accounts/{id}',
    body: 'given',
    with: { acceptedCurrencies: ['EUR', 'USD'], descriptor: 'Shop' },
    of: ['account'],
  },
  { operation: 'POST gateway-accounts/{id}/disable', of: ['account'] },
  { operation: 'POST gateway-accounts/{id}/enable', of: ['account'] },
  { operation: 'POST gateway-accounts/{id}/check-credentials', of: ['account'] },
  { operation: 'GET gateway-accounts/{id}/timeline', of: ['account'] },
  {
    operation: 'POST gateway-accounts/{id}/timeline',
    body: 'given',
    with: { message: 'Replaced by another.' },
    of: ['account'],
    as: 'comment',
  },
  { operation: 'GET gateway-accounts/{id}/timeline/{messageId}', of: ['account', 'comment'] },
  { operation: 'DELETE gateway-accounts/{id}/timeline/{messageId}', of: ['account', 'comment'] },
  { operation: 'POST gateway-accounts/{id}/close', of: ['account'] },
  { operation: 'DELETE gateway-accounts/{id}', of: ['another'] },
]

const disputed = {
  transactionId: '{sale}',
  currency: 'EUR',
  amount: 9.9,
  reasonCode: '10.4',
  type: 'first-chargeback',
  status: 'response-needed',
  postedTime: '2026-01-15T00:00:00Z',
}

export const DISPUTES: readonly Call[] = [
  ...CATALOGUE,
  ...CUSTOMER,
  {
    operation: 'POST transactions',
    body: 'given',
    case: 'as a sale',
    with: { ...sale, customerId: '{customer}', currency: 'EUR', amount: 9.9 },
    as: 'sale',
  },
  { operation: 'POST disputes', body: 'full', case: 'with every member', as: 'dispute' },
  { operation: 'POST disputes', body: 'nulls', case: 'with nulls', with: disputed },
  ...[
    'information-request',
    'second-chargeback',
    'arbitration',
    'fraud',
    'ethoca-alert',
    'verifi-alert',
    'bank-return',
  ].map(
    (type): Call => ({
      operation: 'POST disputes',
      body: 'given',
      case: `of the type ${type}`,
      with: { ...disputed, type },
    }),
  ),
  ...['representment', 'inquiry', 'forced-refund', 'collaboration'].map(
    (type): Call => ({
      operation: 'POST disputes',
      body: 'given',
      case: `of the type ${type}`,
      with: { ...disputed, type },
    }),
  ),
  ...['under-review', 'forfeited', 'won', 'lost', 'unknown'].map(
    (status): Call => ({
      operation: 'POST disputes',
      body: 'given',
      case: `that is ${status}`,
      with: { ...disputed, status },
    }),
  ),
  { operation: 'GET disputes' },
  { operation: 'GET disputes/{id}', of: ['dispute'], as: 'dispute' },
  { operation: 'PUT disputes/{id}', body: { held: 'dispute' }, case: 'with what was read', of: ['dispute'] },
  {
    operation: 'PUT disputes/{id}',
    body: 'full',
    case: 'with every member, of a new id',
    of: ['=case-1'],
    status: 201,
  },
]
