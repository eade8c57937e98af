import { createOrganization } from '../commands/access/create-organization.ts'
import { createCustomer } from '../commands/catalog/create-customer.ts'
import { createPlan } from '../commands/catalog/create-plan.ts'
import { createWebsite } from '../commands/catalog/create-website.ts'
import type { Config } from '../config/config.ts'
import { ApiKey, Installation } from '../db/entities/index.ts'
import { newId } from '../db/new-id.ts'
import type { Database } from '../db/open.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { resourceUrl } from '../representations/links.ts'

export interface Demo {
  readonly organizationId: string
  readonly secretKey: string
  readonly publishableKey: string
  readonly websiteId: string
  readonly customerId: string
  readonly planId: string
}

/** Returns the demo organization of this database, and creates it on the first call. */
export async function demo(
  database: Database,
  config: Pick<Config, 'environment' | 'baseUrl'>,
): Promise<Demo> {
  return (await existingDemo(database)) ?? (await makeDemo(database, config))
}

export function demoVariables(config: Pick<Config, 'baseUrl'>, made: Demo): string {
  const variables = {
    API: resourceUrl(config.baseUrl, made.organizationId),
    ORG: made.organizationId,
    KEY: made.secretKey,
    PUBLISHABLE_KEY: made.publishableKey,
    CUSTOMER: made.customerId,
    WEBSITE: made.websiteId,
    PLAN: made.planId,
  }
  const assignments = Object.entries(variables).map(([name, value]) => `${name}='${value}'`)
  return `export ${assignments.join(' ')}`
}

export function demoRequest(config: Pick<Config, 'baseUrl'>, made: Demo): string {
  const body = {
    orderType: 'subscription-order',
    customerId: made.customerId,
    websiteId: made.websiteId,
    items: [{ plan: { id: made.planId } }],
  }
  const url = resourceUrl(config.baseUrl, made.organizationId, 'subscriptions')
  return `curl -sS '${url}' -H 'SVC-APIKEY: ${made.secretKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
}

export function checkoutUrl({ baseUrl }: Pick<Config, 'baseUrl'>, made: Demo): string {
  return `${baseUrl}/demo/checkout#organization=${made.organizationId}&key=${made.publishableKey}`
}

const DEMO_FACT = 'demo'

async function existingDemo({ orm, vault }: Database): Promise<Demo | null> {
  const em = orm.em.fork()
  const fact = await em.findOne(Installation, { name: DEMO_FACT })
  if (fact === null) return null
  const { organizationId, ...ids } = JSON.parse(fact.value) as Pick<
    Demo,
    'organizationId' | 'websiteId' | 'customerId' | 'planId'
  >
  const value = async (type: 'secret' | 'publishable') => {
    const key = await em.findOne(ApiKey, { organizationId, type }, { orderBy: { createdTime: 'asc' } })
    return key === null ? '(deleted)' : await vault.open(key.keyCipher)
  }
  return {
    organizationId,
    ...ids,
    secretKey: await value('secret'),
    publishableKey: await value('publishable'),
  }
}

async function makeDemo(
  { orm, vault, installation }: Database,
  { environment, baseUrl }: Pick<Config, 'environment' | 'baseUrl'>,
): Promise<Demo> {
  const organizationId = newId('org')
  const tenant = { organizationId, baseUrl, now: new Date() }
  return await inUnitOfWork(orm.em.fork(), tenant, async (unit) => {
    const keys = await createOrganization(unit, { vault, installation, environment }, { name: 'Demo' })
    const website = createWebsite(unit, newId('web'), {
      name: 'Demo shop',
      url: 'https://shop.example',
      servicePhone: null,
      serviceEmail: null,
      customFields: null,
    })
    const customer = await createCustomer(unit, newId('cus'), {
      email: 'ada@example.com',
      firstName: 'Ada',
      lastName: 'Lovelace',
      websiteId: null,
      defaultPaymentInstrumentId: null,
      primaryAddress: null,
      locale: null,
      taxNumbers: null,
      leadSource: null,
      customFields: null,
    })
    const plan = await createPlan(unit, newId('plan'), {
      name: 'Monthly',
      description: null,
      richDescription: null,
      productId: null,
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: '9.9' },
      recurringInterval: { unit: 'month', length: 1, limit: null },
      trial: null,
      isTrialOnly: false,
      setup: null,
      invoiceTimeShift: null,
      isActive: true,
      customFields: {},
    })
    const ids = { organizationId, websiteId: website.id, customerId: customer.id, planId: plan.id }
    unit.em.persist(unit.em.create(Installation, { name: DEMO_FACT, value: JSON.stringify(ids) }))
    return { ...keys, ...ids }
  })
}
