import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import type { OrganizationKeys } from '../../commands/access/create-organization.ts'
import type { ApiClient } from '../support/api-client.ts'
import { type Browser, startBrowser } from '../support/browser.ts'
import { filesWithCardData, tablesWithCardData } from '../support/card-data.ts'
import { startService, type TestService } from '../support/service.ts'
import { contrasts } from './legibility.ts'

/** The page itself does not list it, so that it can be searched for wherever it might stay. */
const PAN = '4242424242424242'
const CODE = '9137'
const TYPED = /4242 ?4242 ?4242 ?4242/

describe('the checkout demo', () => {
  let service: TestService
  let merchant: OrganizationKeys & { readonly api: ApiClient }
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await service.organization()
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const address = (fragment = `#organization=${merchant.organizationId}&key=${merchant.publishableKey}`) =>
    `${service.baseUrl}/demo/checkout${fragment}`
  const field = (name: string) => page.getByRole('textbox', { name, exact: true })
  const submit = () => page.getByRole('button', { name: 'Make a token' }).click()
  const fillCard = async (pan = PAN) => {
    await field('Card number').fill(pan)
    await field('Expiry month').fill('12')
    await field('Expiry year').fill('90')
  }
  /** What a screen reader says of a field: its descriptions, of which the message is one. */
  const described = async (name: string) => {
    const ids = (await field(name).getAttribute('aria-describedby'))?.split(' ') ?? []
    const texts = await Promise.all(ids.map((id) => page.locator(`#${id}`).textContent()))
    return texts.join(' ')
  }

  beforeEach(async () => {
    page = await browser.page()
    await page.goto(address())
  })
  afterEach(async () => {
    await page.close()
    const elsewhere = browser.asked.filter(
      (url) => !url.startsWith(`${service.baseUrl}/`) && url !== 'data:,',
    )
    expect(elsewhere).toEqual([])
  })

  test('makes a token with the publishable key and shows the calls with which a server uses it', async () => {
    await fillCard()
    await field('Security code').fill('123')
    await field('First name').fill('Ada')
    await field('E-mail').fill('ada@example.com')
    await field('Country').fill('nl')
    await submit()
    const made = page.getByRole('status').filter({ hasText: 'is now the token' })
    await made.waitFor()
    const [id = ''] = ((await made.textContent()) ?? '').match(/tok_\w+/) ?? []
    expect((await merchant.api.get(`tokens/${id}`)).body).toMatchObject({
      isUsed: false,
      paymentInstrument: { bin: '424242', last4: '4242', brand: 'Visa', expMonth: 12, expYear: 2090 },
      billingAddress: { firstName: 'Ada', country: 'NL', emails: [{ value: 'ada@example.com' }] },
      riskMetadata: { browserData: { language: 'en-GB' } },
    })
    for (const [call, path] of [
      ['#charge', 'transactions'],
      ['#keep', 'payment-instruments'],
    ] as const) {
      const text = await page.locator(call).textContent()
      expect(text).toContain(`${service.baseUrl}/organizations/${merchant.organizationId}/${path}`)
      expect(text).toContain('SVC-APIKEY: $SECRET_KEY')
      expect(text).toContain(id)
      expect(text).not.toContain('sk_')
    }
    expect(await field('Card number').inputValue()).toBe('')
    expect(browser.complaints).toEqual([])
  })

  test('shows calls that work as they are, with key and customer put in', async () => {
    const customer = await merchant.api.post('customers', {})
    await fillCard('4111111111111111')
    await submit()
    await page.getByRole('status').filter({ hasText: 'is now the token' }).waitFor()
    const body = ((await page.locator('#charge').textContent())?.split("-d '")[1] ?? '').replace(/'\s*$/, '')
    const given = JSON.parse(body.replace('cus_…', String(customer.body.id)))
    const sale = await merchant.api.post('transactions', given)
    expect([sale.status, sale.body.result]).toEqual([201, 'approved'])
    const adopt = ((await page.locator('#adopt').textContent())?.split("-d '")[1] ?? '').replace(/'\s*$/, '')
    const card = await merchant.api.post(
      'payment-instruments',
      JSON.parse(adopt.replace('cus_…', String(customer.body.id))),
    )
    expect(card.body).toMatchObject({ last4: '1111', bin: null })
  })

  test.each([
    ['Approve', 'approved'],
    ['Refuse', 'declined'],
  ])('leads a payer whose bank asks to its page and back: %s', async (answer, result) => {
    const customer = await merchant.api.post('customers', {})
    await fillCard('4000003800000446')
    await submit()
    await page.getByRole('status').filter({ hasText: 'is now the token' }).waitFor()
    const body = ((await page.locator('#charge').textContent())?.split("-d '")[1] ?? '').replace(/'\s*$/, '')
    const given = JSON.parse(body.replace('cus_…', String(customer.body.id)))
    const sale = await merchant.api.post('transactions', given)
    expect(sale.body).toMatchObject({ status: 'waiting-approval', result: 'unknown' })
    const links = sale.body._links as { rel: string; href: string }[]
    await page.goto(links.find(({ rel }) => rel === 'approvalUrl')?.href ?? '')
    expect(await page.getByText('EUR 9.9 with the card ending in 0446').count()).toBe(1)
    await page.getByRole('button', { name: answer }).click()
    await page.getByRole('status').filter({ hasText: 'The payer is back from the bank' }).waitFor()
    expect(page.url()).toBe(`${service.baseUrl}/demo/checkout?returned`)
    expect((await merchant.api.get(`transactions/${sale.body.id}`)).body).toMatchObject({
      status: 'completed',
      result,
      has3ds: true,
    })
    expect(browser.complaints).toEqual([])
  })

  test('says what is wrong with a number as one types, politely', async () => {
    const number = field('Card number')
    await number.pressSequentially('424242424242424')
    expect(await described('Card number')).toBe('Visa')
    expect(await number.getAttribute('aria-invalid')).toBe(null)
    await number.pressSequentially('3')
    expect(await described('Card number')).toContain('The check digit is wrong')
    expect(await number.getAttribute('aria-invalid')).toBe('true')
    await number.press('Backspace')
    await number.pressSequentially('2')
    expect(await described('Card number')).toContain('Visa: the number is valid.')
    await field('Expiry month').pressSequentially('13')
    expect(await described('Expiry month')).toContain('1 to 12')
    await field('Expiry month').fill('1')
    await field('Expiry year').fill('2020')
    expect(await described('Expiry year')).toContain('expired')
    for (const message of await page.locator('.message').all()) {
      expect(await message.getAttribute('aria-live')).toBe('polite')
    }
  })

  test('sends nothing while something is wrong, and leads to the first of it', async () => {
    const before = browser.asked.length
    await field('Card number').fill('4242')
    await submit()
    expect(await field('Card number').evaluate((input) => input === input.ownerDocument.activeElement)).toBe(
      true,
    )
    expect(await described('Card number')).toContain('Visa numbers have')
    expect(await described('Expiry month')).toContain('Enter the month.')
    expect(browser.asked.slice(before)).toEqual([])
  })

  test('shows each problem of the API at its field', async () => {
    await fillCard()
    await field('E-mail').fill('nobody')
    await field('Country').fill('1x')
    await submit()
    const alert = page.getByRole('alert')
    await alert.filter({ hasText: 'Validation failed' }).waitFor()
    expect(await described('E-mail')).toContain('must be an e-mail address')
    expect(await described('Country')).toContain('must be two capital letters')
    expect(await field('Country').getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByRole('link', { name: 'What this problem means' }).getAttribute('href')).toBe(
      `${service.baseUrl}/problems/validation-error`,
    )

    await field('E-mail').fill('ada@example.com')
    await field('Country').fill('NL')
    await submit()
    await page.getByRole('status').filter({ hasText: 'is now the token' }).waitFor()
    expect(await described('Country')).toBe('')
    expect(await alert.textContent()).toBe('')
  })

  test('says so when the key is not known', async () => {
    await field('Publishable key').fill('pk_sandbox_nobody')
    await fillCard()
    await submit()
    await page.getByRole('alert').filter({ hasText: 'Unauthorized' }).waitFor()
    expect(await field('Publishable key').getAttribute('aria-invalid')).toBe('true')
    expect(await field('Card number').inputValue()).not.toBe('')
  })

  test('keeps organization and key for the tab and out of the address, and no secret key at all', async () => {
    expect(page.url()).toBe(`${service.baseUrl}/demo/checkout`)
    await page.reload()
    expect(await field('Organization').inputValue()).toBe(merchant.organizationId)
    expect(await field('Publishable key').inputValue()).toBe(merchant.publishableKey)
    const kept = () => page.evaluate(() => JSON.stringify({ ...sessionStorage }))
    await field('Publishable key').fill('sk_sandbox_secret')
    expect(await described('Publishable key')).toContain('must never reach a browser')
    expect(await kept()).not.toContain('sk_')
    expect(await page.evaluate(() => localStorage.length + document.cookie.length)).toBe(0)
  })

  test('can be used with the keyboard alone, in the order it is read', async () => {
    await field('Organization').focus()
    const order: string[] = []
    for (let step = 0; step < 12; step++) {
      order.push(
        await page.evaluate(() => {
          const { activeElement: at } = document
          const shown = at === null ? null : getComputedStyle(at)
          const visible =
            shown !== null && shown.outlineStyle !== 'none' && Number.parseFloat(shown.outlineWidth) >= 2
          return `${at?.id || at?.textContent?.trim()}${visible ? '' : ' without visible focus'}`
        }),
      )
      await page.keyboard.press('Tab')
    }
    expect(order).toEqual([
      'organization',
      'key',
      'number',
      'month',
      'year',
      'code',
      'Test cards',
      'first-name',
      'last-name',
      'email',
      'country',
      'submit',
    ])
    await field('Card number').focus()
    for (const keys of [PAN, '12', '90']) {
      await page.keyboard.type(keys)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.getByRole('status').filter({ hasText: 'is now the token' }).waitFor()
  })

  test('names everything it holds for a screen reader', async () => {
    for (const name of ['In the browser', 'On your server']) {
      expect(await page.getByRole('heading', { name, level: 2 }).count()).toBe(1)
    }
    for (const name of ['Merchant', 'Card', 'Payer (optional)']) {
      expect(await page.getByRole('group', { name }).count()).toBe(1)
    }
    expect(await page.getByRole('form', { name: 'In the browser' }).count()).toBe(1)
    expect(await page.getByRole('region', { name: 'On your server' }).count()).toBe(1)
    const unnamed = await page
      .locator('input, button, a')
      .evaluateAll((all) =>
        all
          .filter((one) =>
            one instanceof HTMLInputElement ? one.labels?.length !== 1 : one.textContent?.trim() === '',
          )
          .map((one) => one.outerHTML),
      )
    expect(unnamed).toEqual([])
    await page.getByText('Test cards').click()
    await page.getByRole('button', { name: '4000 0000 0000 0002' }).click()
    expect(await field('Card number').inputValue()).toBe('4000 0000 0000 0002')
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 320],
  ] as const)('is legible in %s at %i pixels, without scrolling sideways', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    await field('Card number').fill('4242424242424243')
    await field('Card number').blur()
    const { poorest, overflow } = await page.evaluate(contrasts)
    expect(poorest.ratio).toBeGreaterThanOrEqual(4.5)
    expect(overflow).toBeLessThanOrEqual(0)
  })

  test('is there in the sandbox only', async () => {
    const live = await startService({
      worker: false,
      settings: { ENVIRONMENT: 'live', TEMPORAL_ADDRESS: '127.0.0.1:1', WEBHOOK_ALLOWED_CIDRS: '' },
    })
    const responses = ['checkout', 'demo.css', 'modules/billing/cards.ts'].map(async (path) => [
      (await fetch(`${service.baseUrl}/demo/${path}`)).status,
      (await fetch(`${live.baseUrl}/demo/${path}`)).status,
    ])
    expect(await Promise.all(responses)).toEqual([
      [200, 404],
      [200, 404],
      [200, 404],
    ])
    await live.stop()
  })

  test('forbids scripts of its own text and connections elsewhere', async () => {
    const { headers } = await fetch(address(''))
    const policy = (headers.get('content-security-policy') ?? '').split('; ')
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "form-action 'none'",
      ]),
    )
    expect(policy.join()).not.toMatch(/unsafe|http|\*/)
    expect(headers.get('cache-control')).toBe('no-store')
    const refused = await page.evaluate(() =>
      fetch('https://elsewhere.example/').then(
        () => false,
        () => true,
      ),
    )
    expect(refused).toBe(true)
    expect(browser.complaints.join()).toContain('Content Security Policy')
  })

  test('leaves no digit of a card in address, storage, history, profile, rows or logs', async () => {
    await fillCard()
    await field('Security code').fill(CODE.slice(0, 3))
    await submit()
    await page.getByRole('status').filter({ hasText: 'is now the token' }).waitFor()
    await fillCard()
    await page.goto(`${service.baseUrl}/docs`)
    await page.goBack()
    expect(await field('Card number').inputValue()).toBe('')
    const kept = await page.evaluate(async () =>
      JSON.stringify([
        location.href,
        { ...sessionStorage },
        { ...localStorage },
        document.cookie,
        await indexedDB.databases(),
      ]),
    )
    expect(kept).not.toMatch(TYPED)
    expect(browser.asked.join('\n')).not.toMatch(TYPED)
    await browser.quit()
    expect(filesWithCardData(browser.profile, TYPED)).toEqual([])
    expect(await tablesWithCardData(service.databaseUrl, TYPED)).toEqual([])
    expect(service.log.join('')).not.toMatch(TYPED)
  })
})
