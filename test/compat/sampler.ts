/** A text such as `{website}` stands for the id of that record; it is filled in when the body is sent. */
import { TEST_CARDS, TEST_CVV } from '../support/cards.ts'
import {
  alternatives,
  isRequired,
  type Json,
  type JsonObject,
  type JsonShape,
  shapeOf,
} from './json-shape.ts'
import { READ_ONLY, READ_ONLY_ANYWHERE } from './read-only.ts'
import type { ShapeName } from './shapes.ts'

export function full(name: ShapeName): JsonObject {
  return sample(shapeOf(name), name, () => 'value') as JsonObject
}

/** Returns every optional member as null, read-only ones too, beside the required ones. */
export function nulls(name: ShapeName): JsonObject {
  return sample(shapeOf(name), name, (required) => (required ? 'value' : 'null')) as JsonObject
}

export function required(name: ShapeName): JsonObject {
  return sample(shapeOf(name), name, (isNeeded) => (isNeeded ? 'value' : 'nothing')) as JsonObject
}

type Choose = (required: boolean) => 'value' | 'null' | 'nothing'

function sample(shape: JsonShape, name: string, choose: Choose): Json {
  const [chosen] = alternatives(shape)
  if (chosen === undefined) return null
  if (chosen.properties !== undefined) return sampleObject(chosen, name, choose)
  if (chosen.patternProperties !== undefined)
    return { sample: sample(chosen.patternProperties['^.*$'] ?? {}, 'sample', choose) }
  if (chosen.items !== undefined) return [sample(chosen.items, name.replace(/s$/, ''), choose)]
  const plausible = VALUES[name] ?? VALUES[name.slice(name.lastIndexOf('.') + 1)]
  if (plausible !== undefined && typeof plausible === (chosen.type ?? typeof plausible)) return plausible
  if (chosen.enum !== undefined) return chosen.enum[0] as Json
  switch (chosen.type) {
    case 'number':
      return 1
    case 'boolean':
      return true
    default:
      return textOf(name, chosen)
  }
}

function sampleObject(shape: JsonShape, parent: string, choose: Choose): JsonObject {
  const readOnly = [...READ_ONLY_ANYWHERE, ...(READ_ONLY[shape.title as ShapeName] ?? [])]
  return Object.fromEntries(
    Object.entries(shape.properties ?? {}).flatMap(([name, member]): [string, Json][] => {
      const needed = isRequired(shape, name)
      switch (choose(needed)) {
        case 'value':
          return readOnly.includes(name) && !needed
            ? []
            : [[name, sample(member, `${parent.slice(parent.lastIndexOf('.') + 1)}.${name}`, choose)]]
        case 'null':
          return [[name, null]]
        default:
          return []
      }
    }),
  )
}

function textOf(name: string, { examples }: JsonShape): string {
  if (examples !== undefined) return String(examples[0])
  if (name.endsWith('Time')) return daysAhead(1)
  return `sample ${name.slice(name.lastIndexOf('.') + 1)}`
}

export function daysAhead(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString()
}

/** By the name of the member, with that of its object where it matters. */
const VALUES: Readonly<Record<string, Json>> = {
  redirectUrl: 'https://www.example.com/thanks',
  // records that the calls have made before
  websiteId: '{website}',
  customerId: '{customer}',
  productId: '{product}',
  planId: '{plan}',
  'plan.id': '{plan}',
  subscriptionId: '{order}',
  couponId: '{coupon}',
  invoiceId: '{invoice}',
  transactionId: '{sale}',
  paymentInstrumentId: '{instrument}',
  defaultPaymentInstrumentId: '{instrument}',
  credentialHash: '{credential.hash}',
  organizationId: '{organization}',
  // contacts
  email: 'ada@example.com',
  'email.value': 'ada@example.com',
  notificationEmail: 'billing@example.com',
  serviceEmail: 'service@example.com',
  servicePhone: '+1 555 0100',
  country: 'DE',
  locale: 'en',
  invoiceTimeZone: 'Europe/Berlin',
  dob: '1990-01-31',
  // money and time
  currency: 'EUR',
  reportCurrency: 'EUR',
  amount: 9.9,
  price: 9.9,
  delinquencyPeriod: 'P14D',
  pendingOrderTtl: 'P1D',
  'defaultTaxCalculator.type': 'flat',
  time: '09:00:00',
  startTime: daysAhead(1),
  endTime: daysAhead(3),
  abandonTime: daysAhead(10),
  renewalTime: daysAhead(31),
  postedTime: '2026-01-15T00:00:00Z',
  // payments
  'defaultPaymentInstrument.method': 'payment-card',
  pan: TEST_CARDS.approves,
  cvv: TEST_CVV,
  expMonth: 12,
  expYear: 2090,
  paymentToken: '{token}',
  reasonCode: '10.4',
  ipAddress: '203.0.113.7',
  credentialTtl: 3600,
  authTokenTtl: 3600,
  resetTokenTtl: 3600,
  // what has a form of its own
  url: 'https://shop.example/hooks',
  'header.name': 'X-Shop',
  host: 'shop.example',
  allowedIp: '203.0.113.7',
  permission: 'GetCustomer',
  filter: 'amount:1..',
  isTrialOnly: false,
}
