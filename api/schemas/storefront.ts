/** Members are listed, so that one that is added for merchants stays hidden from customers (D 3, storefront). */
import Type, { type Static, type TProperties } from 'typebox'
import { Inside, ReadOnly } from './conventions.ts'
import { Customer } from './customer.ts'
import { Invoice } from './invoice.ts'
import { withheld } from './not-supported.ts'
import { PaymentInstrument, PaymentInstrumentPatch, Token } from './payment-instrument.ts'
import { Plan } from './plan.ts'
import { Product } from './product.ts'
import { ItemPlan, Subscription, SubscriptionItem } from './subscription.ts'
import { Transaction } from './transaction.ts'
import { Website } from './website.ts'

const RESOURCE = ['id', 'revision', 'createdTime', 'updatedTime', '_links'] as const

const options = ($id: string, description: string) => ({ $id, description, additionalProperties: false })

/** Client libraries also send what only the merchant sees of the resource: such a body is not refused for it. */
function bodyOf<T extends { properties: TProperties }>(shown: T, merchants: { properties: TProperties }): T {
  return { ...shown, properties: { ...withheld(merchants.properties), ...shown.properties } }
}

export const StorefrontAccount = Type.Object(
  {
    ...Type.Pick(Customer, [
      ...RESOURCE,
      'email',
      'firstName',
      'lastName',
      'primaryAddress',
      'defaultPaymentInstrument',
    ]).properties,
    websiteId: ReadOnly(Customer.properties.websiteId),
  },
  options('StorefrontAccount', 'A customer, as the customer sees it.'),
)
export type StorefrontAccount = Static<typeof StorefrontAccount>
export const StorefrontAccountBody = bodyOf(StorefrontAccount, Customer)

/** Of a plan of the item's own; another is its id alone. */
const ownPlan = ItemPlan.properties
const StorefrontItemPlan = Type.Object(
  {
    id: ownPlan.id,
    name: ownPlan.name,
    description: ownPlan.description,
    richDescription: ownPlan.richDescription,
    productId: ownPlan.productId,
    currency: ownPlan.currency,
    currencySign: ownPlan.currencySign,
    pricing: ownPlan.pricing,
    recurringInterval: ownPlan.recurringInterval,
    trial: ownPlan.trial,
    isTrialOnly: ownPlan.isTrialOnly,
    setup: ownPlan.setup,
    invoiceTimeShift: ownPlan.invoiceTimeShift,
  },
  { additionalProperties: false, description: 'Plan of the item, as customers see it.' },
)

export const StorefrontOrderItem = Type.Object(
  {
    ...Type.Pick(SubscriptionItem, ['id', 'planId', 'quantity', 'quantityFilled', 'revision', '_embedded'])
      .properties,
    plan: Type.Optional(StorefrontItemPlan),
  },
  options('StorefrontOrderItem', 'An item of an order, as its customer sees it.'),
)

const SHOWN_OF_ORDERS = [
  ...RESOURCE,
  'orderId',
  'orderType',
  'organizationId',
  'customerId',
  'websiteId',
  'status',
  'billingStatus',
  'currency',
  'trial',
  'isTrialOnly',
  'inTrial',
  'isTrialConverted',
  'recurringInterval',
  'invoiceTimeShift',
  'delinquencyPeriod',
  'shipping',
  'autopay',
  'paymentInstrumentId',
  'startTime',
  'activationTime',
  'voidTime',
  'abandonTime',
  'renewalTime',
  'churnTime',
  'rebillNumber',
  'initialInvoiceId',
  'recentInvoiceId',
  'lineItems',
  'lineItemSubtotal',
  'canceledBy',
  'deliveryAddress',
  'billingAddress',
  'poNumber',
  'notes',
] as const

// Picked by hand, because TypeScript cannot follow the type of so many.
const ofOrders: TProperties = Object.fromEntries(
  SHOWN_OF_ORDERS.map((name) => [name, Subscription.properties[name]]),
)
export const StorefrontOrder = Type.Object(
  {
    ...ofOrders,
    items: Type.Array(Inside(StorefrontOrderItem), { description: 'Items of the order.' }),
  },
  options('StorefrontOrder', 'An order, as its customer sees it.'),
)

export const StorefrontInvoice = Type.Pick(
  Invoice,
  [
    ...RESOURCE,
    'subscriptionId',
    'customerId',
    'websiteId',
    'type',
    'status',
    'invoiceNumber',
    'billingAddress',
    'deliveryAddress',
    'organizationTaxIdNumber',
    'customerTaxIdNumber',
    'currency',
    'amount',
    'amountDue',
    'creditMemoAllocations',
    'items',
    'discounts',
    'tax',
    'periodNumber',
    'periodStart',
    'periodEnd',
    'issuedTime',
    'dueTime',
    'delinquencyTime',
    'paidTime',
    'voidedTime',
    'poNumber',
    'notes',
  ],
  options('StorefrontInvoice', 'An issued invoice, as its customer sees it.'),
)

export const StorefrontPaymentInstrument = Type.Object(
  {
    ...Type.Pick(PaymentInstrument, [
      ...RESOURCE,
      'method',
      'bin',
      'last4',
      'brand',
      'expMonth',
      'expYear',
      'status',
      'billingAddress',
    ]).properties,
    token: Token,
    customerId: ReadOnly(PaymentInstrument.properties.customerId),
  },
  options('StorefrontPaymentInstrument', 'A payment card, as its customer sees it.'),
)
export type StorefrontPaymentInstrument = Static<typeof StorefrontPaymentInstrument>
export const StorefrontPaymentInstrumentBody = bodyOf(StorefrontPaymentInstrument, PaymentInstrument)

export const StorefrontPaymentInstrumentPatch = Type.Object(
  {
    ...Type.Pick(PaymentInstrumentPatch, [
      ...RESOURCE,
      'method',
      'bin',
      'last4',
      'brand',
      'expMonth',
      'expYear',
      'status',
      'billingAddress',
    ]).properties,
    customerId: ReadOnly(PaymentInstrument.properties.customerId),
  },
  options('StorefrontPaymentInstrumentPatch', "Changes of a customer's own payment card."),
)
export type StorefrontPaymentInstrumentPatch = Static<typeof StorefrontPaymentInstrumentPatch>
export const StorefrontPaymentInstrumentPatchBody = bodyOf(
  StorefrontPaymentInstrumentPatch,
  PaymentInstrumentPatch,
)

export const StorefrontTransaction = Type.Pick(
  Transaction,
  [
    ...RESOURCE,
    'type',
    'customerId',
    'currency',
    'amount',
    'paymentInstruction',
    'parentTransactionId',
    'invoiceIds',
    'status',
    'result',
  ],
  options('StorefrontTransaction', 'A sale or a refund, as its customer sees it.'),
)

export const StorefrontPlan = Type.Pick(
  Plan,
  [
    ...RESOURCE,
    'name',
    'description',
    'richDescription',
    'productId',
    'currency',
    'pricing',
    'recurringInterval',
    'trial',
    'isTrialOnly',
    'setup',
    'invoiceTimeShift',
    'isActive',
  ],
  options('StorefrontPlan', 'A plan, as customers see it.'),
)

export const StorefrontProduct = Type.Pick(
  Product,
  [...RESOURCE, 'name', 'unitLabel', 'description', 'requiresShipping', 'options'],
  options('StorefrontProduct', 'A product, as customers see it.'),
)

export const StorefrontWebsite = Type.Pick(
  Website,
  [...RESOURCE, 'name', 'url', 'servicePhone', 'serviceEmail'],
  options('StorefrontWebsite', 'A website, as customers see it.'),
)
