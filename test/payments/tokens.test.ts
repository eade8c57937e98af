import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { TOKEN_LEASE } from '../../billing/payment-tokens.ts'
import { consumePaymentToken, leasePaymentToken } from '../../commands/payments/use-payment-token.ts'
import { inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import { eraseExpiredCards } from '../../worker/sweep.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { TEST_CARDS, TEST_CVV } from '../support/cards.ts'
import { startService, type TestService } from '../support/service.ts'
import { skipTime } from '../support/time-skipping.ts'
import { makeToken, tokenBody } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

const ENCRYPTED = { expMonth: 12, expYear: 2090, encryptedCvv: 'x' }

describe('payment tokens', () => {
  let service: TestService
  let merchant: Awaited<ReturnType<TestService['organization']>>
  let browser: ApiClient

  beforeAll(async () => {
    service = await startService()
    merchant = await service.organization()
    browser = apiClient(service.baseUrl, merchant.organizationId, { Authorization: merchant.publishableKey })
  })
  afterAll(() => service.stop())

  const sql = <T>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const cipherOf = async (id: unknown) =>
    (
      await sql<{ card_cipher: string | null }>('select card_cipher from payment_tokens where id = ?', [id])
    )[0]?.card_cipher
  const inUnit = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
    inUnitOfWork(
      service.database.orm.em.fork(),
      { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now: new Date() },
      work,
    )
  const leaseOf = (token: string, owner: string) => ({
    organizationId: merchant.organizationId,
    token,
    owner,
  })
  const lease = (id: string, owner: string = randomUUID(), now = new Date()) =>
    leasePaymentToken(
      service.database.orm.em.fork(),
      service.database.vault,
      'token',
      leaseOf(id, owner),
      now,
    )
  const consume = (id: string, owner: string) =>
    inUnit((unit) => consumePaymentToken(unit, 'token', leaseOf(id, owner)))
  const use = async (id: string) => {
    const owner = randomUUID()
    const card = await lease(id, owner)
    await consume(id, owner)
    return card
  }

  test('show what the card is, and neither number nor code', async () => {
    const { status, headers, body } = await merchant.api.post(
      'tokens',
      tokenBody('4111 1111 1111 1111', {
        leadSource: { medium: 'search', affiliate: 'ada' },
        isUsed: true,
        id: 'mine',
      }),
    )
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(
      `${service.baseUrl}/organizations/${merchant.organizationId}/tokens/${body.id}`,
    )
    expect(body).toEqual({
      id: expect.stringMatching(/^tok_/),
      method: 'payment-card',
      paymentInstrument: { bin: '411111', last4: '1111', brand: 'Visa', expMonth: 12, expYear: 2090 },
      billingAddress: null,
      riskMetadata: null,
      isUsed: false,
      usageTime: null,
      expirationTime: new Date(Date.parse(String(body.createdTime)) + 1_800_000).toISOString(),
      revision: 1,
      createdTime: expect.any(String),
      updatedTime: expect.any(String),
      _links: [expect.objectContaining({ rel: 'self' })],
    })
    expect((await merchant.api.get(`tokens/${body.id}`)).body).toEqual(body)
  })

  test('without a number are made, with null for what is not known and no brand', async () => {
    const { status, body } = await merchant.api.post('tokens', tokenBody(null))
    expect(status).toBe(201)
    expect(body.paymentInstrument).toEqual({ bin: null, last4: null, expMonth: 12, expYear: 2090 })
    await expect(use(String(body.id))).rejects.toThrow('with a card number')
  })

  test('are listed, newest first, by limit and offset alone', async () => {
    const other = await service.organization()
    const made = []
    for (let count = 0; count < 3; count++) made.push(await makeToken(other.api))
    const page = await other.api.get<{ id: string }[]>('tokens?limit=1&offset=1')
    expect(page.body.map(({ id }) => id)).toEqual([made[1]])
    expect(page.headers.get('pagination-total')).toBe('3')
    expect((await other.api.get('tokens?sort=id')).status).toBe(400)
  })

  test('are made and read with a publishable key from any origin, and not listed', async () => {
    const made = await browser.post('tokens', tokenBody(), { Origin: 'https://shop.example' })
    expect(made.status).toBe(201)
    expect(made.headers.get('access-control-allow-origin')).toBe('*')
    expect((await browser.get(`tokens/${made.body.id}`)).status).toBe(200)
    const listed = await browser.get('tokens')
    expect(listed.status).toBe(403)
    expect(listed.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('answer a preflight, which other operations do not', async () => {
    const ask = (path: string, method: string) =>
      merchant.api.send('OPTIONS', path, {
        headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': method },
      })
    const open = await ask('tokens', 'POST')
    expect(open.status).toBe(204)
    expect(open.headers.get('access-control-allow-methods')).toBe('POST')
    expect(open.headers.get('access-control-allow-headers')).toContain('Authorization')
    for (const closed of [await ask('tokens', 'GET'), await ask('customers', 'POST')]) {
      expect(closed.status).toBe(204)
      expect(closed.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  test('take the secret key raw in Authorization too, where no other operation does', async () => {
    const raw = apiClient(service.baseUrl, merchant.organizationId, { Authorization: merchant.secretKey })
    const made = await raw.post('tokens', tokenBody())
    expect(made.status).toBe(201)
    expect((await raw.get(`tokens/${made.body.id}`)).status).toBe(200)
    expect((await raw.get('tokens')).status).toBe(401)
    expect((await raw.get('customers')).status).toBe(401)
  })

  test('hold a billing contact with a digest of what it says', async () => {
    const whole = {
      firstName: 'Ada',
      lastName: 'Lovelace',
      organization: 'LocalServices',
      address: '1 Street',
      address2: 'Attic',
      city: 'London',
      region: 'London',
      country: 'GB',
      postalCode: 'W1',
      phoneNumbers: [{ label: 'home', value: '+44 20 7946 0000', primary: true }],
      emails: [{ label: 'work', value: 'ada@example.com', primary: false }],
      dob: '1815-12-10',
      jobTitle: 'Analyst',
    }
    const kept = await merchant.api.post('tokens', tokenBody(undefined, { billingAddress: whole }))
    expect(kept.body.billingAddress).toEqual({ ...whole, hash: expect.any(String) })
    const contact = { firstName: 'Ada', country: 'GB', emails: [{ value: 'ada@example.com', primary: true }] }
    const hashOf = async (billingAddress: object) =>
      (
        (await merchant.api.post('tokens', tokenBody(undefined, { billingAddress }))).body.billingAddress as {
          hash: string
        }
      ).hash
    const hash = await hashOf(contact)
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(await hashOf({ ...contact, lastName: null, phoneNumbers: [], hash: 'ignored' })).toBe(hash)
    expect(await hashOf({ ...contact, lastName: 'Lovelace' })).not.toBe(hash)
  })

  const browserData = {
    colorDepth: 24,
    isJavaEnabled: false,
    language: 'en-GB',
    screenWidth: 1920,
    screenHeight: 1080,
    timeZoneOffset: 540,
  }

  test('derive of the risk what our own rows and the request tell, and leave the rest null', async () => {
    const other = await service.organization()
    const body = tokenBody(undefined, {
      billingAddress: { country: 'DE', emails: [{ value: 'a@example.com' }] },
      riskMetadata: {
        ipAddress: '203.0.113.7',
        fingerprint: 'device',
        httpHeaders: { 'User-Agent': 'x' },
        browserData,
        extraData: { tool: 'session' },
        score: 99,
      },
    })
    await other.api.post('tokens', body)
    const { riskMetadata } = (await other.api.post<{ riskMetadata: object }>('tokens', body)).body
    expect(riskMetadata).toMatchObject({
      ipAddress: '203.0.113.7',
      browserData,
      hasMismatchedTimeZone: true,
      ipVelocity: 2,
      deviceVelocity: 2,
      emailVelocity: 2,
      billingAddressVelocity: 2,
      paymentInstrumentVelocity: 2,
      isProxy: null,
      country: null,
      latitude: null,
      hasFakeName: null,
      accuracyRadius: null,
      distance: null,
      hasMismatchedBillingAddressCountry: null,
      hasMismatchedBankCountry: null,
      hasMismatchedHolderName: null,
      isHighRiskCountry: null,
      score: null,
    })
  })

  test('answer every derived risk member: of what only somebody outside can know, null', async () => {
    const other = await service.organization()
    const given = {
      ipAddress: '203.0.113.7',
      fingerprint: 'device',
      httpHeaders: { 'User-Agent': 'x' },
      browserData: { ...browserData, isAdBlockEnabled: true },
      extraData: { tool: 'session' },
    }
    const told = { isProxy: true, hostingName: 'x', isp: 'x', country: 'DE', distance: 1, hasFakeName: true }
    const { body } = await other.api.post('tokens', tokenBody(null, { riskMetadata: { ...given, ...told } }))
    expect(body.riskMetadata).toEqual({
      ...given,
      isProxy: null,
      isVpn: null,
      isTor: null,
      isHosting: null,
      hostingName: null,
      isp: null,
      country: null,
      region: null,
      city: null,
      postalCode: null,
      timeZone: null,
      latitude: null,
      longitude: null,
      accuracyRadius: null,
      distance: null,
      hasMismatchedBillingAddressCountry: null,
      hasMismatchedBankCountry: null,
      hasMismatchedTimeZone: null,
      hasMismatchedHolderName: null,
      hasFakeName: null,
      isHighRiskCountry: null,
      paymentInstrumentVelocity: null,
      declinedPaymentInstrumentVelocity: null,
      deviceVelocity: 1,
      ipVelocity: 1,
      emailVelocity: null,
      billingAddressVelocity: null,
      paymentInstrumentApprovedTransactionCount: null,
      score: null,
    })
  })

  test('take the eleven members of a lead source, and answer none of them', async () => {
    const names =
      'medium source campaign term content affiliate subAffiliate salesAgent clickId path referrer'
    const leadSource = Object.fromEntries(names.split(' ').map((name) => [name, `told-as-${name}`]))
    const { status, body } = await merchant.api.post('tokens', tokenBody(undefined, { leadSource }))
    expect(status).toBe(201)
    const read = await merchant.api.get(`tokens/${body.id}`)
    for (const answer of [body, read.body]) expect(JSON.stringify(answer)).not.toContain('told-as-')
  })

  test('keep 2,083 characters of each member of a lead source, and are refused for none', async () => {
    const long = 'é'.repeat(2_083)
    const leadSource = { referrer: `${long}more`, path: long, original: { medium: 'old' } }
    const { status, body } = await merchant.api.post('tokens', tokenBody(undefined, { leadSource }))
    expect(status).toBe(201)
    const [row] = await sql<{ lead_source: Record<string, string> }>(
      'select lead_source from payment_tokens where id = ?',
      [body.id],
    )
    expect(row?.lead_source).toMatchObject({ referrer: long, path: long, medium: null })
  })

  test.each(['paypal', 'ach', 'digital-wallet', 'Klarna', 'voucher'])(
    'of the method %s are not supported yet',
    async (method) => {
      const { status, body } = await merchant.api.post('tokens', { ...tokenBody(), method })
      expect(status).toBe(422)
      expect(body.invalidFields).toMatchObject([
        { field: 'method', message: expect.stringContaining('not supported yet') },
      ])
    },
  )

  test.each([
    ['a wrong check digit', { pan: '4111111111111112' }, 'paymentInstrument.pan'],
    ['an unknown network', { pan: '9999999999999995' }, 'paymentInstrument.pan'],
    ['a number that is a number', { pan: 4111111111111111 }, 'paymentInstrument.pan'],
    ['a number far too long', { pan: '4111111111111111'.repeat(4) }, 'paymentInstrument.pan'],
    ['a code with a letter', { cvv: '12x' }, 'paymentInstrument.cvv'],
    ['an expired card', { expYear: 2020 }, 'paymentInstrument.expYear'],
    ['a month 13', { expMonth: 13 }, 'paymentInstrument.expMonth'],
    ['a month and a half', { expMonth: 1.5 }, 'paymentInstrument.expMonth'],
    ['no month', { expMonth: undefined }, 'paymentInstrument.expMonth'],
    ['a year in words', { expYear: 'next' }, 'paymentInstrument.expYear'],
    ['no year', { expYear: undefined }, 'paymentInstrument.expYear'],
    ['a card number for a name', { '4111111111111111': '' }, 'paymentInstrument.[card number]'],
  ])('refuse %s, and repeat no digit of it', async (_, members, field) => {
    const { status, body } = await merchant.api.post('tokens', {
      method: 'payment-card',
      paymentInstrument: { pan: TEST_CARDS.approves, cvv: TEST_CVV, expMonth: 12, expYear: 2090, ...members },
    })
    expect(status).toBe(422)
    expect(body.invalidFields).toMatchObject([{ field }])
    const text = JSON.stringify({ ...body, instance: '', type: '' })
    expect(text).not.toMatch(/\d{6}/)
    expect(text).not.toContain(TEST_CVV)
  })

  test.each([
    ['an unknown method', { method: 'cash' }, 'method'],
    ['no method', { method: undefined }, 'method'],
    ['no card', { paymentInstrument: undefined }, 'paymentInstrument'],
    ['a code that the caller encrypted', { paymentInstrument: ENCRYPTED }, 'paymentInstrument.encryptedCvv'],
    ['a lead source that is no text', { leadSource: { medium: 7 } }, 'leadSource.medium'],
    ['an unknown lead source', { leadSource: { moon: 'x' } }, 'leadSource.moon'],
    [
      'incomplete browser data',
      { riskMetadata: { browserData: { ...browserData, language: undefined } } },
      'riskMetadata.browserData.language',
    ],
    ['an address that is none', { riskMetadata: { ipAddress: '1.2.3' } }, 'riskMetadata.ipAddress'],
    ['a header that is no text', { riskMetadata: { httpHeaders: { a: 1 } } }, 'riskMetadata.httpHeaders.a'],
    ['a date of birth that is none', { billingAddress: { dob: '1815-13-10' } }, 'billingAddress.dob'],
    [
      'an e-mail address that is none',
      { billingAddress: { emails: [{ value: 'x' }] } },
      'billingAddress.emails.0.value',
    ],
    ['a country in words', { billingAddress: { country: 'Germany' } }, 'billingAddress.country'],
  ])('refuse %s', async (_, members, field) => {
    const { status, body } = await merchant.api.post('tokens', tokenBody(undefined, members))
    expect(status).toBe(422)
    expect(body.invalidFields).toMatchObject([{ field }])
  })

  test('keep number and code in one encrypted column, and no plain digest of the request', async () => {
    const body = tokenBody()
    const { body: made } = await merchant.api.post('tokens', body, { 'Idempotency-Key': 'one' })
    const header = String(await cipherOf(made.id)).split('.')[0] ?? ''
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({
      enc: 'A256GCM',
      kid: expect.any(String),
    })
    const [record] = await sql<{ request_hash: string }>('select request_hash from idempotency_records')
    const path = `/organizations/${merchant.organizationId}/tokens`
    const guess = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(record?.request_hash).not.toBe(guess(`${path}\n${JSON.stringify(body)}`))
    expect(record?.request_hash).toHaveLength(64)
  })

  test('are used once: of a hundred uses at a time exactly one wins, and the card data are gone', async () => {
    const id = await makeToken(merchant.api)
    const uses = await Promise.allSettled(Array.from({ length: 100 }, () => use(id)))
    const won = uses.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(won).toHaveLength(1)
    expect(won[0]).toMatchObject({ pan: TEST_CARDS.approves, cvv: TEST_CVV, last4: '1111' })
    for (const lost of uses) {
      if (lost.status === 'rejected') expect(String(lost.reason)).toContain('unused payment token')
    }
    expect(await cipherOf(id)).toBeNull()
    expect((await browser.get(`tokens/${id}`)).body).toMatchObject({
      isUsed: true,
      usageTime: expect.any(String),
      revision: 2,
    })
  })

  test('whose use is undone can be used again', async () => {
    const id = await makeToken(merchant.api)
    await lease(id, 'first')
    const undone = inUnit(async (unit) => {
      await consumePaymentToken(unit, 'token', leaseOf(id, 'first'))
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await consume(id, 'first')
    await expect(consume(id, 'first')).rejects.toThrow('unused payment token')
  })

  test('that expired under a lease which nobody ended are refused as expired, and as used until then', async () => {
    const id = await makeToken(merchant.api)
    const leased = Date.now() + 1_799_000
    await lease(id, 'dead', new Date(leased))
    await expect(lease(id, 'other', new Date(leased + 2_000))).rejects.toThrow('unused payment token')
    const ended = new Date(leased + TOKEN_LEASE + 2_000)
    await expect(lease(id, 'other', ended)).rejects.toThrow('that has not expired')
  })

  test('whose user died can be used again when the lease ends, by one only', async () => {
    const id = await makeToken(merchant.api)
    await lease(id, 'dead')
    await expect(lease(id, 'other')).rejects.toThrow('unused payment token')
    const later = new Date(Date.now() + TOKEN_LEASE)
    expect(await lease(id, 'other', later)).toMatchObject({ last4: '1111' })
    // It lives after all, and is too late.
    await expect(consume(id, 'dead')).rejects.toThrow('unused payment token')
    await consume(id, 'other')
    expect(await cipherOf(id)).toBeNull()
  })

  test('of another organization cannot be used', async () => {
    const other = await service.organization()
    await expect(use(await makeToken(other.api))).rejects.toThrow(
      'must be the id of an existing payment token',
    )
  })

  test('are erased at their deadline by their workflow, and stay readable and unusable', async () => {
    const id = await makeToken(merchant.api)
    const workflowId = `token-expiry/${merchant.organizationId}/${id}`
    const execution = service.temporal.workflow.getHandle(workflowId)
    await waitFor('the execution', () => execution.describe().catch(() => null))
    await skipTime(service.temporal, workflowId, 29 * 60_000)
    expect(await cipherOf(id)).not.toBeNull()
    await skipTime(service.temporal, workflowId, 2 * 60_000)
    await execution.result()
    expect(await cipherOf(id)).toBeNull()
    expect((await merchant.api.get(`tokens/${id}`)).body).toMatchObject({ isUsed: false, usageTime: null })
    await expect(use(id)).rejects.toThrow('has not expired')
  })

  test('past their time cannot be used, whether or not they were erased yet', async () => {
    const id = await makeToken(merchant.api)
    await sql("update payment_tokens set expiration_time = now() - interval '1 second' where id = ?", [id])
    await expect(use(id)).rejects.toThrow('has not expired')
  })

  test('whose execution an operator ended are erased by the sweep', async () => {
    const id = await makeToken(merchant.api)
    const execution = service.temporal.workflow.getHandle(`token-expiry/${merchant.organizationId}/${id}`)
    await waitFor('the execution', () => execution.describe().catch(() => null))
    await execution.terminate()
    await sql("update payment_tokens set expiration_time = now() - interval '2 minutes' where id = ?", [id])
    await eraseExpiredCards(service.database.orm.em.fork())
    expect(await cipherOf(id)).toBeNull()
  })

  test('that were used have no timer left', async () => {
    const id = await makeToken(merchant.api)
    const execution = service.temporal.workflow.getHandle(`token-expiry/${merchant.organizationId}/${id}`)
    await waitFor('the execution', () => execution.describe().catch(() => null))
    await use(id)
    await execution.result()
  })
})
