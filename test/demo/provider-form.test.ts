/** Stripe itself cannot be reached from here: a script of this test stands in for Stripe.js. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { type Browser, startBrowser } from '../support/browser.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { create } from '../support/create.ts'
import { type ScriptedStripe, startScriptedStripe } from '../support/scripted-stripe.ts'
import { startService, type TestService } from '../support/service.ts'
import { contrasts } from './legibility.ts'

const SECRET_KEY = 'sk_test_demo_0123456789'
const PUBLISHABLE_KEY = 'pk_test_"demo"_0123456789'
const SCRIPT = /^https:\/\/js\.stripe\.com\/[a-z]+\/stripe\.js$/
const ACCOUNT = {
  gatewayName: 'Stripe',
  method: 'payment-card',
  acceptedCurrencies: ['EUR'],
  credentials: { secretKey: SECRET_KEY, publishableKey: PUBLISHABLE_KEY },
}

/** Keeps what the page gives it, and makes the payment methods that it is told. */
const standIn = (results: readonly object[]) => `
  const results = ${JSON.stringify(results)}
  window.Stripe = (key) => ({
    elements: (options) => ({
      create: (type) => ({
        mount(place) {
          place.textContent = 'The card is entered here.'
          place.dataset.given = JSON.stringify({ key, type, ...options })
        },
      }),
      submit: async () => ({}),
    }),
    createPaymentMethod: async () => results.shift(),
  })`

describe("Stripe's form on the checkout demo", () => {
  let service: TestService
  let provider: ScriptedStripe
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    provider = await startScriptedStripe(SECRET_KEY)
    const stripeHost = { protocol: 'http', host: '127.0.0.1', port: provider.port } as const
    service = await startService({ worker: false, stripeHost })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await service.stop()
    await provider.close()
  })
  beforeEach(async () => {
    page = await browser.page()
  })
  afterEach(() => page.close())

  const merchantWith = async (account: object | null) => {
    const merchant = await service.organization()
    const id = account === null ? null : String((await create(merchant.api, 'gateway-accounts', account)).id)
    return { ...merchant, accountId: id }
  }
  const address = (query: string) => `${service.baseUrl}/demo/checkout${query}`
  const served = async (query: string) => {
    const response = await fetch(address(query))
    return {
      status: response.status,
      policy: response.headers.get('content-security-policy') ?? '',
      page: await response.text(),
    }
  }
  const open = async (merchant: { organizationId: string; publishableKey: string }) => {
    const { organizationId, publishableKey } = merchant
    await page.goto(
      address(`?organization=${organizationId}#organization=${organizationId}&key=${publishableKey}`),
    )
  }

  test('is there with an active account that has a publishable key, and only there', async () => {
    const merchant = await merchantWith(ACCOUNT)
    const query = `?organization=${merchant.organizationId}`
    const bare = await served('')
    const shown = await served(query)
    const [script] = /(?<=<script defer src=")[^"]+/.exec(shown.page) ?? ['']
    expect(script).toMatch(SCRIPT)
    expect(shown.page).toContain('data-publishable-key="pk_test_&quot;demo&quot;_0123456789"')
    expect(shown.page).not.toContain(SECRET_KEY)
    expect(shown.policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self' https://js.stripe.com https://*.js.stripe.com",
        "connect-src 'self' https://api.stripe.com",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]),
    )
    expect(shown.policy).not.toContain('unsafe')

    expect([bare.status, bare.page.includes('<script defer')]).toEqual([200, false])
    expect(bare.policy).toContain("trusted-types 'none'")
    const { credentials, ...rest } = ACCOUNT
    const keyless = await merchantWith({ ...rest, credentials: { secretKey: credentials.secretKey } })
    const disabled = await merchantWith(ACCOUNT)
    await disabled.api.post(`gateway-accounts/${disabled.accountId}/disable`, {})
    for (const other of [
      (await merchantWith(null)).organizationId,
      (await merchantWith({ ...rest, gatewayName: 'TestGateway', credentials: undefined })).organizationId,
      keyless.organizationId,
      disabled.organizationId,
      'org_nobody',
      '%00',
      `${merchant.organizationId}&organization=${merchant.organizationId}`,
    ]) {
      expect(await served(`?organization=${other}`)).toEqual(bare)
    }
    const account = await fetch(`${service.baseUrl}/demo/account${query}`)
    expect(account.headers.get('content-security-policy')).toBe(bare.policy)
  })

  test('makes a payment method that the shown call takes over, and that is charged at Stripe', async () => {
    const merchant = await merchantWith(ACCOUNT)
    const id = provider.addPaymentMethod(TEST_CARDS.approves)
    const results = [{ error: { message: 'Your card was declined.' } }, { paymentMethod: { id } }]
    await page.route(SCRIPT, (route) =>
      route.fulfill({ contentType: 'text/javascript', body: standIn(results) }),
    )
    await page.goto(address(`#organization=${merchant.organizationId}&key=${merchant.publishableKey}`))
    await page.getByRole('link', { name: "this page shows Stripe's form too" }).click()
    const given = await page.locator('#provider-element[data-given]').getAttribute('data-given')
    expect(JSON.parse(given ?? '')).toEqual({
      key: PUBLISHABLE_KEY,
      type: 'payment',
      mode: 'setup',
      currency: 'eur',
      paymentMethodCreation: 'manual',
      paymentMethodTypes: ['card'],
    })
    const store = page.getByRole('button', { name: 'Store the card with Stripe' })
    await store.click()
    await page.getByRole('alert').filter({ hasText: 'Your card was declined.' }).waitFor()
    await store.click()
    await page
      .getByRole('status')
      .filter({ hasText: `Stripe has the card as ${id}.` })
      .waitFor()
    expect(await page.getByText('Your card was declined.').count()).toBe(0)
    const { poorest, overflow } = await page.evaluate(contrasts)
    expect([poorest.ratio >= 4.5, overflow]).toEqual([true, 0])

    const customer = await create(merchant.api, 'customers', {})
    const call = (await page.locator('#adopt').textContent()) ?? ''
    expect(call).toContain(`${service.baseUrl}/organizations/${merchant.organizationId}/payment-instruments`)
    const body = (call.split("-d '")[1] ?? '').replace(/'\s*$/, '').replace('cus_…', String(customer.id))
    const instrument = await create(merchant.api, 'payment-instruments', JSON.parse(body))
    expect(instrument).toMatchObject({ last4: '1111', bin: null })
    const sale = await create(merchant.api, 'transactions', {
      type: 'sale',
      customerId: customer.id,
      currency: 'EUR',
      amount: 9.9,
      paymentInstruction: { paymentInstrumentId: instrument.id },
    })
    expect(sale).toMatchObject({ result: 'approved', gatewayName: 'Stripe' })
    expect(provider.charges().map(({ amount }) => amount)).toEqual([990])
    expect(browser.complaints).toEqual([])
  })

  test('says so if it cannot be loaded, and the page makes tokens as without it', async () => {
    await open(await merchantWith({ ...ACCOUNT, takesCardNumbers: true }))
    await page.getByRole('alert').filter({ hasText: "Stripe's form could not be loaded." }).waitFor()
    expect(await page.getByRole('button', { name: 'Store the card with Stripe' }).isDisabled()).toBe(true)
    const field = (name: string) => page.getByRole('textbox', { name, exact: true })
    await field('Card number').fill(TEST_CARDS.approves)
    await field('Expiry month').fill('12')
    await field('Expiry year').fill('90')
    await page.getByRole('button', { name: 'Make a token' }).click()
    await page.getByRole('status').filter({ hasText: 'is now the token' }).waitFor()
  })
})
