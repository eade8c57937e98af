/** Samples of the schemas: the same at every start, and valid whatever members a schema gains. */
import { ID_PATTERN } from '../../billing/id-format.ts'
import type { JsonSchema } from './schemas.ts'

export interface Example {
  readonly summary: string
  readonly value: unknown
}

/** By name of a member, or by `Component.member` where a name means different things. */
const VALUES: Readonly<Record<string, unknown>> = {
  organizationId: 'org_01K3Z9V6T4Q8W2E5R7Y1X0C3B6',
  customerId: 'cus_01K3ZA1M5H7J9K2N4P6Q8R0S2T',
  websiteId: 'web_01K3ZA0C3D5F7G9H1J3K5M7N9P',
  productId: 'prod_01K3ZA2B4C6D8E0F2G4H6J8K0M',
  planId: 'plan_01K3ZA3N5P7Q9R1S3T5V7W9X1Y',
  subscriptionId: 'sub_01K3ZA4Z6A8B0C2D4E6F8G0H2J',
  orderId: 'sub_01K3ZA4Z6A8B0C2D4E6F8G0H2J',
  invoiceId: 'in_01K3ZA5K7M9N1P3Q5R7S9T1V3W',
  initialInvoiceId: 'in_01K3ZA5K7M9N1P3Q5R7S9T1V3W',
  recentInvoiceId: 'in_01K3ZA5K7M9N1P3Q5R7S9T1V3W',
  itemId: 'item_01K3ZA4Z6B1C3D5E7F9G1H3J5K',
  transactionId: 'txn_01K3ZA6X8Y0Z2A4B6C8D0E2F4G',
  paymentInstrumentId: 'inst_01K3ZA7H9J1K3M5N7P9Q1R3S5T',
  paymentCardId: 'inst_01K3ZA7H9J1K3M5N7P9Q1R3S5T',
  gatewayAccountId: 'gwa_01K3ZAPT5V7W9X1Y3Z5A7B9C1D',
  couponId: 'cpn_01K3ZATA7C9E1G3J5L7N9Q1S3U',
  redemptionId: 'red_01K3ZAVC8E0G2J4L6N8Q0S2U4W',
  credentialId: 'cred_01K3ZAS6W8Y0A2C4E6G8J0L2N4',
  disputeId: 'dp_01K3ZA8V0W2X4Y6Z8A0B2C4D6E',
  webhookId: 'wh_01K3ZA9F1G3H5J7K9M1N3P5Q7R',
  deliveryId: 'dlv_01K3ZAAS2T4V6W8X0Y2Z4A6B8C',
  subscriptionPauseId: 'pause_01K3ZAC0D2E4F6G8H0J2K4M6N8',
  eventId: 'evt_01K3ZABD3E5F7G9H1J3K5M7N9P',
  entityId: 'sub_01K3ZA4Z6A8B0C2D4E6F8G0H2J',
  requestId: 'txn_01K3ZA6X8Y0Z2A4B6C8D0E2F4G',
  credentialHash: null,
  hash: '9b74c9897bac770ffc029102a200c5de1b6f0c2e',
  token: 'tok_01K3ZAD1P3Q5R7S9T1V3W5X7Y9',
  paymentToken: 'tok_01K3ZAD1P3Q5R7S9T1V3W5X7Y9',
  revision: 3,
  createdTime: '2026-01-15T09:30:00.000Z',
  updatedTime: '2026-01-31T09:00:00.000Z',
  startTime: '2026-01-31T09:00:00.000Z',
  activationTime: '2026-01-31T09:00:00.000Z',
  renewalTime: '2026-02-28T09:00:00.000Z',
  issuedTime: '2026-01-31T09:00:00.000Z',
  dueTime: '2026-01-31T10:00:00.000Z',
  paidTime: '2026-01-31T09:00:01.000Z',
  periodStart: '2026-01-31T09:00:00.000Z',
  periodEnd: '2026-02-28T09:00:00.000Z',
  postedTime: '2026-02-10T00:00:00.000Z',
  deadlineTime: '2026-03-01T00:00:00.000Z',
  eventTime: '2026-01-31T09:00:00.000Z',
  occurredTime: '2026-01-31T09:00:00.000Z',
  initiatedTime: '2026-01-31T09:00:00.120Z',
  sentTime: '2026-01-31T09:00:00.180Z',
  expirationTime: '2026-01-15T10:00:00.000Z',
  expiredTime: '2026-01-15T10:30:00.000Z',
  to: '2026-06-30T09:00:00.000Z',
  churnTime: null,
  voidTime: null,
  voidedTime: null,
  abandonTime: null,
  usageTime: null,
  delinquencyTime: null,
  delinquencyPeriod: null,
  endTime: '2026-04-30T09:00:00.000Z',
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: 'Lovelace',
  organization: 'Lovelace & Babbage Ltd',
  address: '12 St James Square',
  city: 'London',
  postalCode: 'SW1Y 4JH',
  country: 'GB',
  name: 'Monthly',
  label: 'work',
  primary: true,
  url: 'https://shop.example',
  serviceEmail: 'help@shop.example',
  currency: 'EUR',
  price: 9.9,
  amount: 9.9,
  amountDue: 0,
  quantity: 1,
  quantityFilled: 0,
  unit: 'month',
  length: 1,
  limit: 12,
  maxQuantity: null,
  autopay: true,
  isActive: true,
  isUsed: false,
  inTrial: false,
  rebillNumber: 1,
  periodNumber: 1,
  billingStatus: 'paid',
  host: 'receiver.shop.example',
  username: 'billing',
  password: 'a long secret',
  description: 'Monthly subscription',
  bin: '411111',
  last4: '1111',
  brand: 'Visa',
  expMonth: 12,
  expYear: 2090,
  method: 'payment-card',
  pan: '4111111111111111',
  cvv: '123',
  mode: 'passwordless',
  reasonCode: '10.4',
  eventType: 'subscription-activated',
  position: '1842',
  attempt: 1,
  duration: 184,
  poNumber: 'PO 4711',
  customFields: { segment: 'gold' },
  permissions: ['PostCustomer', 'GetCustomer'],
  emails: [{ label: 'work', value: 'ada@example.com', primary: true }],
  phoneNumbers: [],
  eventsFilter: ['subscription-created', 'invoice-paid'],
  invoiceIds: ['in_01K3ZA5K7M9N1P3Q5R7S9T1V3W'],
  acl: [{ permissions: ['PostCustomer', 'GetCustomer'] }],
  allowedIps: null,
  acceptedCurrencies: ['EUR', 'USD'],
  result: 'approved',
  gateway: 'test-gateway',
  source: 'api',
  medium: 'search',
  campaign: 'spring',
  ipAddress: '203.0.113.7',
  validationUrl: 'https://apple-pay-gateway.apple.com/paymentservices/paymentSession',
  domainName: 'shop.example',
  displayName: 'Shop',
  validationResponse: { sandbox: true },

  'ApiKey.description': 'Checkout of the shop',
  'ApiKey.secretKey': 'sk_sandbox_…',
  'ApiKey.apiUser': 'api_key_01K3ZAE5A7B9C1D3E5F7G9H1J3',
  'CustomerToken.token': 'eyJhbGciOiJSUzI1NiIsInR5cCI6ImN1c3RvbWVyK2p3dCJ9…',
  'AuthenticationToken.token': 'KJ7Q2mXfV0c5nT8bR1yZ4wE6',
  'Contact.hash': '5d41402abc4b2a76b9719d911017c592',
  'ContactEmail.value': 'ada@example.com',
  'ContactPhoneNumber.value': '+44 20 7946 0000',
  'Customer.paymentToken': null,
  'CustomerToken.acl': [{ permissions: ['PostToken'] }],
  'Dispute.status': 'response-needed',
  'Dispute.type': 'first-chargeback',
  'PlanSetup.price': 19,
  'PlanTrial.price': 0,
  'InvoiceTimeShiftIssueTimeShift.duration': 3,
  'InvoiceTimeShiftIssueTimeShift.unit': 'day',
  'InvoiceTimeShiftDueTimeShift.duration': 7,
  'InvoiceTimeShiftDueTimeShift.unit': 'day',
  'UpcomingInvoice.type': 'renewal',
  'UpcomingInvoice.amountDue': 9.9,
  'UpcomingInvoiceItem.type': 'plan',
  'InvoiceItem.type': 'plan',
  'Coupon.description': 'Spring sale',
  'CouponDiscount.type': 'percent',
  'CouponDiscount.value': 25,
  'Coupon.restrictions': [{ type: 'redemptions-per-customer', quantity: 1 }],
  'Coupon.expiredTime': '2026-06-30T09:00:00.000Z',
  'CouponExpiration.expiredTime': '2026-06-30T09:00:00.000Z',
  'CouponRedemption.additionalRestrictions': [],
  'CouponRedemption.canceledTime': null,
  'CustomField.name': 'segment',
  'CustomField.type': 'string',
  'CustomField.description': 'Segment of the customer',
  'CustomerCredential.username': 'ada',
  'CustomerCredential.expiredTime': null,
  'ResetPasswordToken.username': 'ada',
  'ResetPasswordToken.token': 'KJ7Q2mXfV0c5nT8bR1yZ4wE6',
  'AuthenticationOptions.passwordPattern': null,
  'GatewayAccount.gatewayName': 'Stripe',
  'Tag.name': 'VIP',
  'CustomerTag.id': 'tag_01K3ZAQ4U6W8Y0A2C4E6G8J0L2',
  'CustomerTag.name': 'VIP',
  'Dispute.description': null,
  'GatewayAccountCredentials.secretKey': 'sk_live_of_the_provider',
  'GatewayAccount.credentials': { secretKey: 'sk_live_of_the_provider' },
  'Invoice.status': 'paid',
  'InvoiceItem.description': 'Monthly, period 1',
  'UpcomingInvoiceItem.description': 'Monthly, period 2',
  'Organization.name': 'Shop Ltd',
  'Product.name': 'Newsletter',
  'Website.name': 'Shop',
  'WebhookHeader.name': 'X-Shop',
  'WebhookHeader.value': 'newsletter',
  'Subscription.status': 'active',
  'Subscription.trial': null,
  'Subscription.recurringInterval': null,
  'Subscription.invoiceTimeShift': null,
  'Subscription.riskMetadata': null,
  'Subscription.deliveryAddress': null,
  'Subscription.shipping': null,
  'SubscriptionItem.id': 'item_01K3ZA4Z6B1C3D5E7F9G1H3J5K',
  'SubscriptionItem.usageLimits': null,
  'SubscriptionCancellation.churnTime': '2026-02-28T09:00:00.000Z',
  'SubscriptionCancellation.reason': 'too-expensive',
  'SubscriptionCancellation.description': 'Found a cheaper one',
  'SubscriptionPause.description': 'On holiday',
  'SubscriptionPause.effectiveTime': '2026-03-31T09:00:00.000Z',
  'SubscriptionReactivation.effectiveTime': '2026-03-31T09:00:00.000Z',
  'TimelineEntry.type': 'subscription-activated',
  'TimelineEntry.message': 'The order: activated.',
  'Transaction.status': 'completed',
  'Transaction.parentTransactionId': null,
  'Transaction.method': 'external',
  'ExternalInstruction.method': 'external',
  'Webhook.url': 'https://receiver.shop.example/events',
  'Webhook.websiteId': null,
  'Webhook.method': 'POST',
  'WebhookTracking.url': 'https://receiver.shop.example/events',
  'WebhookTracking.method': 'POST',
  'WebhookTracking.status': 200,
  'WebhookTracking.request': '{"subscriptionId":"sub_01K3ZA4Z6A8B0C2D4E6F8G0H2J"}',
  'WebhookTracking.response': 'ok',
  'Event.payload': { subscriptionId: 'sub_01K3ZA4Z6A8B0C2D4E6F8G0H2J' },
  'Event.id': 'evt_01K3ZABD3E5F7G9H1J3K5M7N9P',
  'EventDelivery.id': 'dlv_01K3ZAAS2T4V6W8X0Y2Z4A6B8C',
  'EventDelivery.status': 'delivered',
  'EventDelivery.attempts': 1,
}

/** By component. */
const IDS: Readonly<Record<string, string>> = {
  ApiKey: 'api_key_01K3ZAE5A7B9C1D3E5F7G9H1J3',
  CustomerToken: 'cust_01K3ZAMP1Q3R5S7T9V1W3X5Y7Z',
  ApiTracking: 'req_01K3ZAP3T5V7X9Z1B3D5F7H9K1',
  Coupon: 'couponId',
  CouponRedemption: 'redemptionId',
  CustomField: 'segment',
  Customer: 'customerId',
  CustomerCredential: 'credentialId',
  CustomerTimelineEntry: 'tl_01K3ZAJV6W8X0Y2Z4A6B8C0D2E',
  Dispute: 'disputeId',
  GatewayAccount: 'gatewayAccountId',
  FastForward: 'ff_01K3ZAFK4M6N8P0Q2R4S6T8V0W',
  Invoice: 'invoiceId',
  InvoiceItem: 'itemId',
  Organization: 'organizationId',
  PaymentInstrument: 'paymentInstrumentId',
  PaymentToken: 'token',
  Plan: 'planId',
  Product: 'productId',
  ServiceCredential: 'hash',
  Subscription: 'subscriptionId',
  SubscriptionCancellation: 'cancel_01K3ZAG5X7Y9Z1A3B5C7D9E1F3',
  SubscriptionPause: 'subscriptionPauseId',
  SubscriptionReactivation: 'react_01K3ZAHH4J6K8M0N2P4Q6R8S0T',
  Tag: 'tag_01K3ZAQ4U6W8Y0A2C4E6G8J0L2',
  TimelineEntry: 'tl_01K3ZAJV6W8X0Y2Z4A6B8C0D2E',
  Transaction: 'transactionId',
  Webhook: 'webhookId',
  WebhookTracking: 'att_01K3ZAKF8G0H2J4K6M8N0P2Q4R',
  Website: 'websiteId',
}

/** The variant that a response is sampled from, unless it is the first. */
const VARIANTS: Readonly<Record<string, string>> = {
  Plan: 'SubscriptionPlan',
  WebhookAuth: 'BasicWebhookAuth',
}
const VARIANT_OF: Readonly<Record<string, string>> = {
  OneTimeSalePlan: 'Plan',
  SubscriptionPlan: 'Plan',
  TrialOnlyPlan: 'Plan',
}

const { customerId, websiteId, planId, paymentInstrumentId, transactionId } = VALUES

/** Bodies of which a sample would not show the point. */
const BODIES: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  SubscriptionBody: {
    order: {
      summary: 'An order of one plan that begins immediately',
      value: { orderType: 'subscription-order', customerId, websiteId, items: [{ plan: { id: planId } }] },
    },
    later: {
      summary: 'An order of three that begins later, with a trial',
      value: {
        orderType: 'subscription-order',
        customerId,
        websiteId,
        items: [{ plan: { id: planId }, quantity: 3 }],
        startTime: '2026-03-01T09:00:00Z',
        trial: { enabled: true, endTime: '2026-03-15T09:00:00Z' },
        delinquencyPeriod: 'P14D',
      },
    },
  },
  TransactionBody: {
    sale: {
      summary: 'A sale to a card of the customer',
      value: {
        type: 'sale',
        customerId,
        currency: 'EUR',
        amount: 9.9,
        paymentInstruction: { paymentInstrumentId },
      },
    },
    refund: {
      summary: 'A refund of a part of a sale',
      value: { type: 'refund', parentTransactionId: transactionId, amount: 4.5 },
    },
  },
  OrganizationBody: {
    settings: {
      summary: 'Pending orders end after a week, and declined charges are repeated twice',
      value: {
        name: 'Shop Ltd',
        settings: { billing: { pendingOrderTtl: 'P7D', autopayRetries: ['P1D', 'P4D'] } },
      },
    },
  },
  WebhookBody: {
    webhook: {
      summary: 'A webhook for two event types',
      value: {
        url: 'https://receiver.shop.example/events',
        eventsFilter: ['subscription-created', 'invoice-paid'],
      },
    },
  },
}

export interface ExampleSources {
  readonly schemas: Readonly<Record<string, JsonSchema>>
  readonly baseUrl: string
  /** Paths below the organization, with `{id}` in them, by component. */
  readonly paths: ReadonlyMap<string, string>
}

export function examplesOf(schema: JsonSchema, sources: ExampleSources): Readonly<Record<string, Example>> {
  const { schemas } = sources
  const name = componentOf(schema) ?? componentOf(schema.items) ?? ''
  const isBody = name.endsWith('Body')
  const known = BODIES[name]
  if (known !== undefined) return known
  const variants = isBody ? (schemas[name]?.oneOf ?? schemas[name]?.anyOf ?? []) : []
  const sample = sampler(sources, isBody)
  if (variants.length === 0)
    return { [isBody ? 'body' : 'response']: { summary: words(name), value: sample(schema, '', '') } }
  return Object.fromEntries(
    variants.map((variant) => {
      const key = componentOf(variant) ?? name
      return [key, { summary: words(key), value: sample(variant, '', '') }]
    }),
  )
}

type Sampler = (schema: JsonSchema, component: string, member: string) => unknown

function sampler({ schemas, baseUrl, paths }: ExampleSources, isBody: boolean): Sampler {
  const sample: Sampler = (schema, component, member) => {
    const named = componentOf(schema)
    if (named !== null) return sample(schemas[named] ?? {}, bare(named), '')
    if (!isUnsupported(schema)) {
      const known = knownValue(component, member)
      if (known !== undefined && fits(known, schema)) return known
    }
    const alternatives = schema.oneOf ?? schema.anyOf
    if (alternatives !== undefined) {
      const chosen =
        alternatives.find((one) => bare(componentOf(one) ?? '') === VARIANTS[component]) ?? alternatives[0]
      return chosen === undefined || isUnsupported(schema) ? null : sample(chosen, component, member)
    }
    const types = [schema.type ?? []].flat()
    if (schema.enum !== undefined) return types.includes('null') ? null : schema.enum[0]
    if (schema.const !== undefined) return schema.const
    if (types.includes('null') || types.length === 0) return null
    switch (types[0]) {
      case 'object':
        return objectSample(schema, component)
      case 'array':
        return isUnsupported(schema) || (isBody && !schema.minItems) || !isKnown(schema.items)
          ? []
          : [sample(schema.items ?? {}, component, member)]
      case 'boolean':
        return schema.default ?? false
      case 'integer':
      case 'number':
        return schema.default ?? schema.minimum ?? 0
      default:
        return textSample(schema)
    }
  }
  const objectSample = ({ properties = {}, required = [] }: JsonSchema, component: string): object =>
    Object.fromEntries(
      Object.entries(properties).flatMap(([name, member]) => {
        const isLeftOut =
          (name === '_embedded' && !required.includes(name)) ||
          (isBody && !required.includes(name) && !isTold(component, name, member))
        if (isLeftOut) return []
        return [[name, name === '_links' ? linksOf(component) : sample(member, component, name)]]
      }),
    )
  const linksOf = (component: string): object[] => {
    const path = paths.get(VARIANT_OF[component] ?? component)
    if (path === undefined) return []
    const id = String(knownValue(component, 'id') ?? '')
    const [resource = ''] = path.split('/')
    const below = path
      .replace(/\{\w+\}$/, id)
      .replace('{resource}', 'customers')
      .replace('{id}', String(VALUES[`${singular(resource)}Id`]))
    const segments = ['organizations', String(VALUES.organizationId), ...(below === '' ? [] : [below])]
    return [{ rel: 'self', href: [baseUrl, ...segments].join('/') }]
  }
  const isTold = (component: string, name: string, member: JsonSchema): boolean => {
    if (isUnsupported(member) || member.deprecated === true || member.type === 'null') return false
    const known = knownValue(component, name)
    return known !== undefined && known !== null && fits(known, member)
  }
  return sample
}

function singular(resource: string): string {
  return resource.replace(/s$/, '')
}

function knownValue(component: string, member: string): unknown {
  const id = member === 'id' ? IDS[VARIANT_OF[component] ?? component] : undefined
  if (id !== undefined) return VALUES[id] ?? id
  const own = VALUES[`${component}.${member}`]
  return own === undefined ? VALUES[member] : own
}

function fits(value: unknown, { type, enum: values, oneOf, anyOf, items }: JsonSchema): boolean {
  if (values !== undefined) return values.includes(value)
  const alternatives = oneOf ?? anyOf
  if (alternatives !== undefined)
    return value === null && alternatives.some((alternative) => alternative.type === 'null')
  const types = [type ?? []].flat()
  if (value === null) return types.includes('null')
  if (Array.isArray(value))
    return (
      types.includes('array') &&
      (items?.enum === undefined || value.every((one) => items.enum?.includes(one)))
    )
  if (typeof value === 'number')
    return types.includes('number') || (types.includes('integer') && Number.isInteger(value))
  return types.includes(typeof value)
}

function textSample({ format, pattern, minLength = 0 }: JsonSchema): string {
  switch (format) {
    case 'date-time':
      return '2026-01-31T09:00:00.000Z'
    case 'date':
      return '1985-12-10'
    case 'duration':
      return 'P3D'
    case 'email':
      return 'ada@example.com'
    case 'uri':
      return 'https://shop.example'
    default:
      return TEXTS[pattern ?? ''] ?? 'text'.padEnd(Number(minLength), '.')
  }
}

const TEXTS: Readonly<Record<string, string>> = {
  [ID_PATTERN]: '01K3ZANQ2R4S6T8V0W2X4Y6Z8A',
  '^[A-Z]{3}$': 'EUR',
  '^[A-Z]{2}$': 'GB',
}

function isUnsupported({ description = '' }: JsonSchema): boolean {
  return description.includes('Not supported yet')
}

/** False for items of any shape. */
function isKnown(items: JsonSchema | undefined): boolean {
  return items !== undefined && items.additionalProperties !== true
}

function componentOf(schema: JsonSchema | undefined): string | null {
  return schema?.$ref?.split('/').at(-1) ?? null
}

function bare(component: string): string {
  return component.replace(/^Embedded/, '').replace(/Body$/, '')
}

function words(component: string): string {
  const text = component
    .replace(/Body$/, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  return `${/^(?:[aeio](?!ne )|up)/.test(text) ? 'An' : 'A'} ${text.replace('api ', 'API ')}`
}
