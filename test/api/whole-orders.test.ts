/** As client libraries send them: with every member, with every optional member null, and as they were read. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ApiResponse } from '../support/api-client.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

type Body = Record<string, unknown>

const DAY = 86_400_000
const later = (days: number) => new Date(Date.now() + days * DAY).toISOString()

const CONTACT = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  organization: 'Machines',
  address: '1 Main Street',
  address2: 'Floor 2',
  city: 'London',
  region: 'LDN',
  country: 'GB',
  postalCode: 'E1',
  phoneNumbers: [{ label: 'main', value: '+44 1', primary: true }],
  emails: [{ label: 'main', value: 'ada@example.com', primary: true }],
  dob: '1990-12-10',
  jobTitle: 'Countess',
  hash: 'ignored',
}
const SHIFT = {
  issueTimeShift: { chronology: 'before', duration: 2, unit: 'days' },
  dueTimeShift: { duration: 30, unit: 'seconds' },
}
const PLAN = {
  name: 'Full',
  description: 'For everyone.',
  richDescription: '<b>For everyone.</b>',
  currency: 'EUR',
  currencySign: 'ignored',
  setup: { price: 5 },
  isActive: true,
  isTrialOnly: false,
  customFields: { color: 'red' },
  productOptions: null,
  revision: 9,
  _links: [],
}
const RECURRING = {
  recurringInterval: {
    unit: 'month',
    length: 1,
    limit: 12,
    billingTiming: 'prepaid',
    periodAnchorInstruction: null,
  },
  trial: { price: 1, period: { unit: 'week', length: 1 } },
  meteredBilling: null,
  invoiceTimeShift: SHIFT,
}
const RISK = {
  ipAddress: '203.0.113.7',
  fingerprint: 'device',
  httpHeaders: { 'User-Agent': 'Browser' },
  browserData: {
    colorDepth: 24,
    isJavaEnabled: false,
    language: 'en',
    screenWidth: 800,
    screenHeight: 600,
    timeZoneOffset: 0,
    isAdBlockEnabled: true,
  },
  extraData: { kountFraudSessionId: 'k', payPalMerchantSessionId: 'p', threatMetrixSessionId: 't' },
  isProxy: true,
  score: 7,
}
const COMPUTED = {
  organizationId: 'other',
  status: 'completed',
  billingStatus: 'paid',
  currency: 'JPY',
  initialInvoiceId: null,
  recentInvoiceId: null,
  activationTime: null,
  voidTime: null,
  revision: 9,
  _links: [],
  _embedded: {},
}

interface Ids {
  readonly productId: string
  readonly recurringPlanId: string
  readonly saleId: string
  readonly instrumentId: string
  readonly order: (status: 'active' | 'churned') => Promise<string>
}

interface Case {
  readonly path: string
  readonly full: (ids: Ids, merchant: Catalogue) => Body | Promise<Body>
  readonly required: readonly string[]
  /** The response to a null-filled body, beyond its required members. */
  readonly defaults: Body
  readonly isPut?: false
}

const CASES: Readonly<Record<string, Case>> = {
  'a website': {
    path: 'websites',
    full: () => ({
      name: 'Shop',
      url: 'https://shop.example/',
      servicePhone: '+44 1',
      serviceEmail: 'help@shop.example',
      customFields: { theme: { dark: true } },
      settings: { paymentForm: { css: null, theme: null, features: null }, amplitude: { tracking: false } },
      logoId: null,
      logoUrl: null,
      organizationId: 'ignored',
      _links: [],
    }),
    required: ['name'],
    defaults: {
      url: null,
      servicePhone: null,
      serviceEmail: null,
      customFields: {},
      settings: {},
      logoId: null,
    },
  },
  'a product': {
    path: 'products',
    full: () => ({
      name: 'Seat',
      unitLabel: 'seat',
      description: 'One seat.',
      customFields: { a: 1 },
      requiresShipping: false,
      options: [],
      taxCategoryId: 'books',
      accountingCode: '',
      recognition: { debitAccountId: null, creditAccountId: null },
    }),
    required: ['name'],
    defaults: { unitLabel: null, description: null, customFields: {}, requiresShipping: false, options: [] },
  },
  'a plan of a one-time sale': {
    path: 'plans',
    full: ({ productId }) => ({
      ...PLAN,
      productId,
      pricing: { formula: 'flat-rate', price: 10, minQuantity: 1, maxQuantity: 9 },
      recurringInterval: null,
      trial: null,
    }),
    required: ['name', 'currency', 'pricing'],
    defaults: {
      description: null,
      richDescription: null,
      productId: null,
      productOptions: null,
      setup: null,
      isActive: true,
      isTrialOnly: false,
      recurringInterval: null,
      trial: null,
      invoiceTimeShift: null,
      meteredBilling: null,
      customFields: {},
    },
  },
  'a plan of a subscription': {
    path: 'plans',
    full: ({ productId }) => ({
      ...PLAN,
      ...RECURRING,
      productId,
      pricing: {
        formula: 'tiered',
        brackets: [{ price: 2, maxQuantity: 10 }, { price: 1 }],
        minQuantity: 2,
      },
    }),
    required: ['name', 'currency', 'pricing', 'recurringInterval'],
    defaults: { trial: null, invoiceTimeShift: null, meteredBilling: null, setup: null },
  },
  'a plan of a trial alone': {
    path: 'plans',
    full: ({ productId }) => ({
      ...PLAN,
      productId,
      isTrialOnly: true,
      trial: RECURRING.trial,
      invoiceTimeShift: SHIFT,
      recurringInterval: null,
    }),
    required: ['name', 'currency', 'trial'],
    defaults: { pricing: { formula: 'fixed-fee', price: 0 }, recurringInterval: null, isTrialOnly: false },
  },
  'a subscription': {
    path: 'subscriptions',
    full: ({ recurringPlanId, instrumentId }, merchant) => ({
      ...COMPUTED,
      orderType: 'subscription-order',
      customerId: merchant.customerId,
      websiteId: merchant.websiteId,
      orderId: 'ignored',
      renewalReminderTime: null,
      renewalReminderNumber: null,
      trialReminderTime: null,
      trialReminderNumber: 0,
      abandonReminderTime: null,
      abandonReminderNumber: null,
      inTrial: true,
      trial: { enabled: true, endTime: later(9) },
      isTrialOnly: false,
      isTrialConverted: true,
      trialConversionTime: null,
      invoiceTimeShift: { dueTimeShift: { duration: 2, unit: 'days' } },
      recurringInterval: { periodAnchorInstruction: null },
      autopay: false,
      startTime: later(1),
      churnTime: null,
      renewalTime: null,
      currentPeriodStart: later(1),
      currentPeriodEnd: later(9),
      rebillNumber: 3,
      lineItems: [],
      lineItemSubtotal: { currency: 'EUR', amount: 0 },
      mrr: 7,
      paymentInstrumentId: instrumentId,
      items: [
        {
          id: 'ignored',
          planId: recurringPlanId,
          plan: { id: recurringPlanId, name: null, pricing: null, isTrialOnly: false, customFields: {} },
          quantity: 3,
          quantityFilled: 1,
          usageLimits: {
            softLimit: { quantity: 5, amount: 1.5 },
            hardLimit: { quantity: 9 },
            trialLimit: 2,
          },
          usageStatus: { isSoftLimitReached: true },
          revision: 4,
          isModified: true,
          isGrandfathered: true,
          excludeFromMrr: true,
          _embedded: {},
        },
      ],
      deliveryAddress: CONTACT,
      billingAddress: CONTACT,
      abandonTime: later(20),
      delinquencyPeriod: 'P3D',
      couponIds: [],
      poNumber: 'PO 1',
      shipping: { amount: 2, calculator: 'manual' },
      notes: 'By the door.',
      canceledTime: null,
      canceledBy: null,
      cancelCategory: null,
      cancelDescription: null,
      riskMetadata: RISK,
      billingPortalToken: null,
      customFields: { a: { b: 1 } },
    }),
    required: ['orderType', 'customerId', 'websiteId', 'items'],
    defaults: {
      trial: null,
      isTrialOnly: false,
      recurringInterval: null,
      invoiceTimeShift: null,
      autopay: true,
      paymentInstrumentId: null,
      deliveryAddress: null,
      billingAddress: null,
      delinquencyPeriod: null,
      shipping: null,
      notes: null,
      poNumber: null,
      customFields: {},
      riskMetadata: null,
      renewalReminderTime: null,
      abandonReminderNumber: null,
    },
  },
  'a one-time sale': {
    path: 'subscriptions',
    full: ({ saleId }, merchant) => ({
      ...COMPUTED,
      orderType: 'one-time-order',
      customerId: merchant.customerId,
      websiteId: merchant.websiteId,
      items: [{ plan: { id: saleId }, quantity: 2 }],
      startTime: later(1),
      deliveryAddress: CONTACT,
      billingAddress: CONTACT,
      abandonTime: later(20),
      couponIds: null,
      poNumber: 'PO 1',
      shipping: { amount: 2, calculator: 'manual' },
      notes: 'By the door.',
      riskMetadata: RISK,
      customFields: { a: 1 },
    }),
    required: ['orderType', 'customerId', 'websiteId', 'items'],
    defaults: { orderType: 'one-time-order', notes: null, shipping: null, customFields: {} },
  },
  'a pause': {
    path: 'subscription-pauses',
    full: async ({ order }) => ({
      subscriptionId: await order('active'),
      status: 'finished',
      pausedBy: 'customer',
      description: 'On holiday.',
      effectiveTime: later(2),
      endTime: later(5),
      timeRemaining: 'P10D',
      _links: [],
    }),
    required: ['subscriptionId'],
    defaults: { pausedBy: 'merchant', description: null, endTime: null, status: 'ongoing' },
  },
  'a cancellation': {
    path: 'subscription-cancellations',
    full: async ({ order }) => ({
      subscriptionId: await order('active'),
      proratedInvoiceId: null,
      appliedInvoiceId: null,
      canceledBy: 'customer',
      reason: 'other',
      description: 'Enough.',
      prorated: false,
      status: 'confirmed',
      canceledTime: null,
      churnTime: later(3),
      churnTimePolicy: 'at-next-renewal',
      lineItems: [],
      lineItemSubtotal: { amount: 0, currency: 'EUR' },
      _links: [],
    }),
    required: ['subscriptionId'],
    defaults: {
      canceledBy: 'merchant',
      reason: null,
      description: null,
      prorated: false,
      status: 'completed',
      churnTimePolicy: null,
      proratedInvoiceId: null,
      lineItems: [],
    },
  },
  'a reactivation': {
    path: 'subscription-reactivations',
    full: async ({ order, instrumentId }) => ({
      subscriptionId: await order('churned'),
      cancellationId: 'ignored',
      description: 'Back again.',
      effectiveTime: later(-1),
      renewalTime: later(9),
      paymentInstrumentId: instrumentId,
      _links: [],
    }),
    required: ['subscriptionId'],
    defaults: { description: null, paymentInstrumentId: null },
    isPut: false,
  },
}

describe('whole shapes', () => {
  let service: TestService
  let merchant: Catalogue
  let ids: Ids

  const made = (response: ApiResponse<Body>, status = 201): Body => {
    expect({ status: response.status, body: response.status === status ? null : response.body }).toEqual({
      status,
      body: null,
    })
    return response.body
  }
  const make = async (path: string, body: object) => made(await merchant.api.post(path, body))

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    const { id: productId } = await make('products', { name: 'Product' })
    const pricing = { formula: 'fixed-fee', price: 9.9 }
    const { id: saleId } = await make('plans', { name: 'Sale', currency: 'EUR', pricing })
    const token = await makeToken(merchant.api)
    const { customerId } = merchant
    const instrument = await make('payment-instruments', { customerId, token })
    ids = {
      productId: String(productId),
      saleId: String(saleId),
      recurringPlanId: merchant.planId,
      instrumentId: String(instrument.id),
      async order(status) {
        const { id: subscriptionId } = await make('subscriptions', orderBody(merchant, { autopay: false }))
        if (status === 'churned') await make('subscription-cancellations', { subscriptionId })
        return String(subscriptionId)
      },
    }
  })
  afterAll(() => service.stop())

  const nulled = (body: Body, required: readonly string[]): Body =>
    Object.fromEntries(
      Object.entries(body).map(([name, value]) => [name, required.includes(name) ? value : null]),
    )
  const cases = Object.entries(CASES)
  const puts = cases.filter(([, { isPut = true }]) => isPut)

  test.each(cases)('%s is created by POST with every member of its shape', async (_, { path, full }) => {
    const body = await full(ids, merchant)
    const created = await make(path, body)
    const read = await merchant.api.get(`${path}/${created.id}`)
    expect(read.body).toEqual(created)
    const unread = ['couponIds']
    expect(Object.keys(body).filter((name) => !(name in created) && !unread.includes(name))).toEqual(
      '_embedded' in body ? ['_embedded'] : [],
    )
  })

  test.each(cases)(
    '%s is created by POST with every optional member null',
    async (_, { path, full, required, defaults }) => {
      expect(await make(path, nulled(await full(ids, merchant), required))).toMatchObject(defaults)
    },
  )

  test.each(puts)('%s is created by PUT, and taken again as it is read', async (name, { path, full }) => {
    const at = `${path}/whole-${name.replaceAll(' ', '-')}`
    const created = made(await merchant.api.put(at, await full(ids, merchant)))
    expect(made(await merchant.api.put(at, created), 200)).toEqual(created)
    const read = made(await merchant.api.get(at), 200)
    expect(made(await merchant.api.put(at, read), 200)).toEqual(read)
  })

  test.each(puts)(
    '%s takes a PUT with every optional member null',
    async (name, { path, full, required, defaults }) => {
      const at = `${path}/nulled-${name.replaceAll(' ', '-')}`
      const created = made(await merchant.api.put(at, await full(ids, merchant)))
      const response = await merchant.api.put(at, nulled(created, required))
      expect(made(response, 200)).toMatchObject({ ...defaults, revision: 2 })
    },
  )

  test('a reactivation that was read is taken by another POST', async () => {
    const { id: _, ...body } = await make('subscription-reactivations', {
      subscriptionId: await ids.order('churned'),
      description: 'Back again.',
    })
    await make('subscription-cancellations', { subscriptionId: body.subscriptionId })
    expect(await make('subscription-reactivations', body)).toMatchObject({ description: 'Back again.' })
  })

  test('what is not supported yet is refused at another value, whatever the resource', async () => {
    const subscriptionId = await ids.order('active')
    const refused: [string, Body, string[]][] = [
      [
        'websites',
        { name: 'Shop', settings: { amplitude: { tracking: true } }, logoId: 'f' },
        ['logoId', 'settings'],
      ],
      [
        'plans',
        { ...PLAN, pricing: { formula: 'fixed-fee', price: 1 }, productOptions: { size: 'L' } },
        ['productOptions'],
      ],
      [
        'plans',
        { ...PLAN, pricing: { formula: 'fixed-fee', price: 1 }, meteredBilling: { strategy: 'sum' } },
        ['meteredBilling'],
      ],
      [
        'plans',
        {
          ...PLAN,
          pricing: { formula: 'fixed-fee', price: 1 },
          recurringInterval: {
            unit: 'month',
            length: 1,
            periodAnchorInstruction: { method: 'day-and-month-of-year', day: 1, month: 1 },
          },
        },
        [
          'recurringInterval.periodAnchorInstruction.method',
          'recurringInterval.periodAnchorInstruction.month',
        ],
      ],
      ['subscriptions', orderBody(merchant, { couponIds: ['c'] }) as Body, ['couponIds.0']],
      [
        'subscription-cancellations',
        { subscriptionId, prorated: true, lineItems: [{ type: 'credit' }] },
        ['lineItems'],
      ],
      ['subscription-reactivations', { subscriptionId, effectiveTime: later(1) }, ['effectiveTime']],
    ]
    for (const [path, body, fields] of refused) {
      const response = await merchant.api.post(path, body)
      expect({ path, fields: expectProblem(response, 422, 'validation-error').toSorted() }).toEqual({
        path,
        fields,
      })
    }
  })
})
