/** As client libraries send them: with every member, with null for optional ones, and as GET returned them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { TSchema } from 'typebox'
import { ApiKey } from '../../api/schemas/api-key.ts'
import { Dispute } from '../../api/schemas/dispute.ts'
import { Organization } from '../../api/schemas/organization.ts'
import { PaymentInstrument } from '../../api/schemas/payment-instrument.ts'
import { PaymentToken } from '../../api/schemas/payment-token.ts'
import { ServiceCredential } from '../../api/schemas/service-credential.ts'
import { Transaction } from '../../api/schemas/transaction.ts'
import { Webhook } from '../../api/schemas/webhook.ts'
import { TEST_CARDS, TEST_CVV } from '../support/cards.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

type Body = Readonly<Record<string, unknown>>

interface Shape {
  readonly path: string
  readonly schema: TSchema
  /** New for each request. */
  needed(): Body | Promise<Body>
  /** A value for every other member that is written, or known and not supported. */
  readonly all: Body
  /** True if PUT creates it too; `own`: it exists already, and PUT only changes it. */
  readonly put?: true | 'own'
}

const TIME = '2026-01-31T09:00:00.000Z'
const READ_ONLY = {
  id: 'x',
  revision: 7,
  createdTime: TIME,
  updatedTime: TIME,
  _links: [{ rel: 'self', href: 'x' }],
  _embedded: { customer: {} },
}
const CONTACT = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  organization: 'Ada & Co',
  address: '12 St James Square',
  address2: 'First floor',
  city: 'London',
  region: 'Greater London',
  country: 'GB',
  postalCode: 'SW1Y 4JH',
  phoneNumbers: [{ label: 'main', value: '+44 20 7946 0000', primary: true }],
  emails: [{ label: 'main', value: 'ada@example.com', primary: true }],
  dob: '1815-12-10',
  jobTitle: 'Countess',
  hash: 'x',
}
const LEAD_SOURCE = {
  medium: 'a',
  source: 'b',
  campaign: 'c',
  term: 'd',
  content: 'e',
  affiliate: 'f',
  subAffiliate: 'g',
  salesAgent: 'h',
  clickId: 'i',
  path: 'j',
  referrer: 'k',
}
const RISK = {
  ipAddress: '203.0.113.7',
  fingerprint: 'device',
  httpHeaders: { 'User-Agent': 'x' },
  browserData: {
    colorDepth: 24,
    isJavaEnabled: false,
    language: 'en',
    screenWidth: 1920,
    screenHeight: 1080,
    timeZoneOffset: 0,
    isAdBlockEnabled: true,
  },
  extraData: {
    kountFraudSessionId: 'a',
    payPalMerchantSessionId: 'b',
    threatMetrixSessionId: 'c',
  },
  isProxy: true,
  hostingName: 'x',
  latitude: 1.5,
  score: 7,
}

describe('a body as client libraries send it', () => {
  let service: TestService
  let merchant: Catalogue
  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const SHAPES: readonly Shape[] = [
    {
      path: 'tokens',
      schema: PaymentToken,
      needed: () => ({
        method: 'payment-card',
        paymentInstrument: {
          pan: TEST_CARDS.approves,
          cvv: TEST_CVV,
          encryptedCvv: null,
          expMonth: 12,
          expYear: 2090,
          bin: null,
          last4: null,
          brand: null,
        },
      }),
      all: {
        billingAddress: CONTACT,
        riskMetadata: RISK,
        leadSource: { ...LEAD_SOURCE, original: LEAD_SOURCE, _links: [] },
        isUsed: false,
        usageTime: TIME,
        expirationTime: TIME,
      },
    },
    {
      path: 'payment-instruments',
      schema: PaymentInstrument,
      needed: async () => ({
        customerId: merchant.customerId,
        token: await makeToken(merchant.api),
      }),
      all: {
        method: 'payment-card',
        status: 'active',
        fingerprint: 'x',
        bin: '411111',
        last4: '1111',
        fpanLast4: null,
        pan: null,
        cvv: null,
        expMonth: 1,
        expYear: 2030,
        brand: 'Visa',
        bankCountry: null,
        bankName: '',
        isPayoutable: false,
        billingAddress: CONTACT,
        useAsBackup: true,
        billingPortalUrl: '',
        lastPaymentTime: TIME,
        customFields: { a: 1 },
        stickyGatewayAccountId: null,
        expirationReminderTime: null,
        expirationReminderNumber: 0,
        referenceData: {},
        digitalWallet: null,
        riskMetadata: RISK,
      },
    },
    {
      path: 'transactions',
      schema: Transaction,
      needed: () => ({
        type: 'sale',
        customerId: merchant.customerId,
        currency: 'EUR',
        amount: 12.5,
        paymentInstruction: { method: 'external' },
      }),
      all: {
        organizationId: 'x',
        websiteId: null,
        parentTransactionId: null,
        invoiceIds: [],
        billingAddress: CONTACT,
        description: 'a sale',
        isProcessedOutside: true,
        riskMetadata: RISK,
        customFields: { a: 1 },
        status: 'completed',
        result: 'approved',
        childTransactions: ['x'],
        subscriptionIds: ['x'],
        planIds: ['x'],
        orderId: 'x',
        isRebill: true,
        rebillNumber: 7,
        retryNumber: 7,
        isRetry: true,
        isMerchantInitiated: true,
        purchaseAmount: 1,
        purchaseCurrency: 'USD',
        requestAmount: 1,
        requestCurrency: 'USD',
        method: 'payment-card',
        paymentInstrument: { method: 'payment-card', paymentInstrumentId: 'x' },
        bin: '411111',
        gatewayName: 'x',
        gateway: { response: {}, avsResponse: {}, cvvResponse: {} },
        requestId: 'x',
        rawResponse: 'x',
        processedTime: TIME,
        nextInquiryTime: TIME,
        authorizationExpiryTime: null,
        isDisputed: true,
        disputeTime: TIME,
        disputeStatus: 'won',
        has3ds: false,
        '3ds': {},
        redirectUrl: null,
        notificationUrl: null,
        billingDescriptor: null,
        hasAmountAdjustment: false,
        gatewayAccountId: null,
        gatewayTransactionId: 'x',
        acquirerName: '',
        velocity: 0,
        referenceData: null,
        hasDcc: false,
        dcc: null,
        riskScore: 0,
        isReconciled: false,
        hadDiscrepancy: false,
        discrepancyTime: null,
        arn: null,
        reportAmount: 0,
        reportCurrency: '',
        settlementTime: null,
        limits: null,
        depositRequestId: null,
        transferId: null,
        payoutRequestId: null,
      },
    },
    {
      path: 'disputes',
      schema: Dispute,
      needed: async () => disputeBody(await externalSale(merchant.api, merchant.customerId)),
      all: {
        customerId: 'x',
        acquirerReferenceNumber: 'arn',
        caseId: 'case',
        reasonDescription: 'x',
        category: 'fraud',
        deadlineTime: '2099-01-31T09:00:00.000Z',
        rawResponse: 'x',
        resolvedTime: TIME,
        source: 'sftp',
      },
      put: true,
    },
    {
      path: 'webhooks',
      schema: Webhook,
      needed: () => ({ url: 'https://receiver.example/hooks', status: 'inactive' }),
      all: {
        method: 'POST',
        eventsFilter: ['customer-created', 'a-name-of-tomorrow'],
        websiteId: null,
        credentialHash: null,
        headers: [{ name: 'X-A', value: 'b', status: 'inactive' }],
        body: null,
        filter: '',
        deactivationReason: 'x',
        consecutiveFailures: 7,
        firstFailureTime: TIME,
      },
      put: true,
    },
    {
      path: 'service-credentials/webhook',
      schema: ServiceCredential,
      needed: () => ({ host: 'https://receiver.example/hooks' }),
      all: {
        hash: 'x',
        type: 'webhook',
        status: 'active',
        deactivationTime: TIME,
        auth: { type: 'basic', username: 'ada', password: 'secret' },
      },
    },
    {
      path: 'api-keys',
      schema: ApiKey,
      needed: () => ({ description: 'a key' }),
      all: {
        type: 'secret',
        acl: [
          {
            scope: { organizationId: null, productId: [], planId: [], customFieldName: [] },
            permissions: ['GetCustomer', 'GetSomethingOfTomorrow'],
          },
        ],
        allowedIps: ['203.0.113.7'],
        apiUser: 'x',
        secretKey: 'x',
      },
      put: true,
    },
    {
      path: '',
      schema: Organization,
      needed: () => ({ name: 'Ada & Co' }),
      all: {
        website: 'https://ada.example',
        address: '12 St James Square',
        address2: 'First floor',
        city: 'London',
        region: 'Greater London',
        country: 'GB',
        postalCode: 'SW1Y 4JH',
        phoneNumbers: CONTACT.phoneNumbers,
        emails: CONTACT.emails,
        taxDescriptor: 'VAT',
        taxNumbers: [{ type: 'eu-vat', value: '1', isDefault: true, isValid: true }],
        invoiceTimeZone: 'Europe/London',
        reportCurrency: 'GBP',
        questionnaire: {
          role: 'founder',
          monthlyTransactions: '1000',
          products: ['billing'],
          integrationType: 'api',
          launchTiming: 'now',
        },
        settings: {
          billing: {
            pendingOrderTtl: 'P1D',
            reminders: { renewal: ['P1D'], trialEnd: ['P1D'], abandon: ['P1D'] },
            autopayRetries: ['P1D'],
            orderDelinquencyPeriod: null,
            subtractRecurringDiscountsFromMrr: false,
            subtractOneTimeDiscountsFromMrr: false,
          },
          defaultTaxCalculator: { type: 'flat', rate: 20, isInclusive: true },
          taxLocations: [
            {
              address: '12 St James Square',
              city: 'London',
              region: 'Greater London',
              country: 'GB',
              postalCode: 'SW1Y 4JH',
              name: 'VAT',
              rate: 17.5,
              startTime: TIME,
              categories: [{ taxCategoryId: 'books', rate: 0 }],
            },
          ],
          notifications: {
            notifyOnUserAccessChanges: false,
            notifyOnApiKeyAccessChanges: false,
            notificationEmailAddresses: [],
          },
          annualComplianceScreening: { enabled: false, monthDay: null },
          payoutRequestAllocationOrder: null,
        },
        features: [{ name: 'x', description: 'y' }],
        replayOrganizationId: null,
      },
      put: 'own',
    },
  ]

  const membersOf = (schema: TSchema): string[] =>
    Object.keys((schema as { properties: Record<string, unknown> }).properties)

  async function send({ path, put }: Shape, body: () => Promise<Body>): Promise<Body[]> {
    const { api } = merchant
    const responses = [
      ...(put === 'own' ? [await api.put(path, await body())] : [await api.post(path, await body())]),
      ...(put === true ? [await api.put(`${path}/put-${Date.now()}`, await body())] : []),
    ]
    for (const { status, body: problem } of responses) {
      expect({ status, problem: status < 300 ? null : problem }).toEqual({
        status: put === 'own' ? 200 : 201,
        problem: null,
      })
    }
    return responses.map((response) => response.body)
  }

  test.each(SHAPES.map((shape) => [shape.path || 'the organization', shape] as const))(
    '%s with every member that the shape has is taken',
    async (_, shape) => {
      const all = { ...READ_ONLY, ...shape.all }
      const needed = Object.keys(await shape.needed())
      const missing = membersOf(shape.schema).filter((name) => !(name in all) && !needed.includes(name))
      expect(missing).toEqual([])
      await send(shape, async () => ({ ...all, ...(await shape.needed()) }))
    },
  )

  test.each(SHAPES.map((shape) => [shape.path || 'the organization', shape] as const))(
    '%s with null for every optional member is taken as without them',
    async (_, shape) => {
      const nulls = Object.fromEntries(membersOf(shape.schema).map((name) => [name, null]))
      const [filled] = await send(shape, async () => ({
        ...nulls,
        _embedded: null,
        ...(await shape.needed()),
      }))
      const [bare] = await send(shape, async () => await shape.needed())
      const kinds = (body: Body = {}) =>
        Object.fromEntries(
          Object.entries(body).map(([name, value]) => [name, value === null ? 'null' : typeof value]),
        )
      expect(kinds(filled)).toEqual(kinds(bare))
    },
  )

  test.each(SHAPES.map((shape) => [shape.path || 'the organization', shape] as const))(
    '%s as GET returned it is taken',
    async (_, shape) => {
      const { api } = merchant
      const path = shape.path
      const made =
        shape.put === 'own'
          ? (await api.put(path, { ...shape.all, ...(await shape.needed()) })).body
          : await create(api, path, { ...READ_ONLY, ...shape.all, ...(await shape.needed()) })
      const read = (await api.get(shape.put === 'own' ? path : `${path}/${made.id}`)).body
      // What is never returned must be sent again.
      const writeOnly = await writeOnlyOf(shape)
      await send(shape, async () => ({ ...read, ...(await writeOnly()) }))
      if (shape.put === true) {
        const again = await api.put(`${path}/${made.id}`, read)
        expect([again.status, again.body]).toEqual([200, read])
      }
    },
  )

  /** Members that a creation needs and no response has. */
  async function writeOnlyOf({ path, needed, all }: Shape): Promise<() => Promise<Body>> {
    switch (path) {
      case 'tokens': {
        const { paymentInstrument } = await needed()
        return async () => ({ paymentInstrument })
      }
      case 'payment-instruments':
        return async () => ({ token: await makeToken(merchant.api) })
      case 'service-credentials/webhook':
        return async () => ({ auth: all.auth })
      default:
        return async () => ({})
    }
  }
})
