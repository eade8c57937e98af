/** No row is locked while the gateway stores a card, and one request wins. */

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { EntityManager } from '@mikro-orm/postgresql'
import { ConflictError } from '../../billing/errors.ts'
import { createRequestCards, type TokenUse } from '../../commands/payments/request-cards.ts'
import { leasePaymentToken, releasePaymentToken } from '../../commands/payments/use-payment-token.ts'
import { outsideTransactions } from '../../db/outside-transactions.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { GATEWAY_CALLS, type Gateway, GatewayFailedError } from '../../gateways/port.ts'
import { create } from '../support/create.ts'
import { type Payments, startPayments } from '../support/payments.ts'
import { makeToken } from '../support/tokens.ts'

describe('the card of a payment token', () => {
  let payments: Payments
  beforeAll(async () => {
    payments = await startPayments()
  })
  afterAll(() => payments?.stop())

  const cardsBy = (store: Gateway['store'], owner = crypto.randomUUID()) => {
    const { service, merchant } = payments
    return createRequestCards({
      em: () => service.database.orm.em.fork(),
      vault: service.database.vault,
      gateway: { ...payments.gateway, store },
      hash: (text) => text,
      organizationId: merchant.organizationId,
      owner,
      now: () => new Date(),
    })
  }
  const tokenOf = async (): Promise<TokenUse> => ({
    field: 'token',
    token: await makeToken(payments.merchant.api),
  })
  const use = (given: TokenUse, store: Gateway['store'], then: (unit: UnitOfWork) => void = () => {}) => {
    const cards = cardsBy(store)
    return cards.run(() =>
      payments.inUnit(async (unit) => {
        const card = await cards.use(unit, given)
        then(unit)
        return card
      }),
    )
  }
  const isUsed = async ({ token }: TokenUse) =>
    (await payments.merchant.api.get(`tokens/${token}`)).body.isUsed
  const stored = async () => ({ reference: 'ref_1', gatewayName: 'TestGateway' })

  test('is stored while no row is locked and no transaction is open', async () => {
    const given = await tokenOf()
    const locked: unknown[] = []
    const card = await use(given, async (...call) => {
      locked.push(
        ...(await payments.sql(
          `select token.id from payment_tokens token where token.id = ? and token.id not in
             (select id from payment_tokens where id = ? for update skip locked)`,
          [given.token, given.token],
        )),
        ...(await payments.sql(
          `select pid, state, query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
        )),
      )
      return await outsideTransactions(payments.gateway, GATEWAY_CALLS).store(...call)
    })
    expect(locked).toEqual([])
    expect(card).toMatchObject({ last4: '1111', gatewayName: 'TestGateway' })
    expect(card).not.toHaveProperty('pan')
    expect(card).not.toHaveProperty('cvv')
    expect(await isUsed(given)).toBe(true)
  })

  test.each(GATEWAY_CALLS)('is not reached from within a transaction: %s', async (method) => {
    const called: string[] = []
    const call = async (): Promise<never> => {
      called.push(method)
      throw new Error('reached')
    }
    const guarded = outsideTransactions({ ...payments.gateway, [method]: call }, GATEWAY_CALLS)
    const reach = guarded[method] as () => Promise<unknown>
    await expect(payments.inUnit(() => reach())).rejects.toThrow(`${method} was called within a transaction`)
    expect(called).toEqual([])
    await expect(reach()).rejects.toThrow('reached')
  })

  test('that the gateway does not store leaves the token unused, for another at once', async () => {
    const given = await tokenOf()
    const refuses = async () => ({ refusal: 'The card was declined.' })
    await expect(use(given, refuses)).rejects.toThrow('token: must be a card that can be stored')
    const fails = () => Promise.reject(new GatewayFailedError('The gateway failed.'))
    await expect(use(given, fails)).rejects.toBeInstanceOf(GatewayFailedError)
    expect(await isUsed(given)).toBe(false)
    expect(await use(given, stored)).toMatchObject({ reference: 'ref_1' })
  })

  test('whose command fails in the end leaves the token unused, for another at once', async () => {
    const given = await tokenOf()
    const failing = use(given, stored, () => {
      throw new Error('the invoice was paid meanwhile')
    })
    await expect(failing).rejects.toThrow('the invoice was paid meanwhile')
    expect(await isUsed(given)).toBe(false)
    expect(await use(given, stored)).toMatchObject({ reference: 'ref_1' })
  })

  test('is stored once under the id of its token, however often it is asked for', async () => {
    const { organizationId } = payments.merchant
    const card = { pan: '4111111111111111', cvv: null, expMonth: 12, expYear: 2090 }
    const references = await Promise.all(
      Array.from({ length: 3 }, () => payments.gateway.store(organizationId, card, 'tok_again')),
    )
    expect(new Set(references.map((one) => 'reference' in one && one.reference)).size).toBe(1)
  })

  test('of a gateway account that was deleted meanwhile is refused, and its token stays unused', async () => {
    const given = await tokenOf()
    const atNobody = async () => ({ reference: 'account/gone/card', gatewayName: 'Stripe' })
    await expect(use(given, atNobody)).rejects.toBeInstanceOf(ConflictError)
    expect(await isUsed(given)).toBe(false)
  })

  test('keeps the gateway accounts that hold it until the commit, and forgets those that were deleted', async () => {
    const { api } = payments.merchant
    const account = { gatewayName: 'TestGateway', method: 'payment-card', acceptedCurrencies: ['EUR'] }
    const given = await tokenOf()
    for (const id of ['first', 'next']) {
      expect((await api.put(`gateway-accounts/${id}`, account)).status).toBe(201)
    }
    const cards = cardsBy(async () => ({
      reference: 'account/first/card',
      gatewayName: 'TestGateway',
      backups: ['account/gone/card', 'account/next/card'],
    }))
    const free = () =>
      payments.sql("select id from gateway_accounts where id in ('first', 'next') for update skip locked")
    const card = await cards.run(() =>
      payments.inUnit(async (unit) => {
        const used = await cards.use(unit, given)
        expect(await free()).toEqual([])
        return used
      }),
    )
    expect(card).toMatchObject({ reference: 'account/first/card', backups: ['account/next/card'] })
    expect(await free()).toHaveLength(2)
    for (const id of ['first', 'next']) expect((await api.delete(`gateway-accounts/${id}`)).status).toBe(204)
  })

  test('is not asked for while anything else of the request is wrong', async () => {
    const { api } = payments.merchant
    const given = await tokenOf()
    const { status, body } = await api.post('transactions', {
      type: 'sale',
      customerId: 'nobody',
      currency: 'EUR',
      amount: 1.001,
      paymentInstruction: { token: given.token },
      invoiceIds: ['in_none'],
    })
    expect(status).toBe(422)
    const fields = (body.invalidFields as { field: string }[]).map(({ field }) => field)
    expect(fields.toSorted()).toEqual(['amount', 'customerId', 'invoiceIds.0'])
    expect(await isUsed(given)).toBe(false)
  })

  test('is stored although another request gave its token back between the refusal and its reason', async () => {
    const { service, merchant } = payments
    const { organizationId } = merchant
    const { field, token } = await tokenOf()
    const lease = (em: EntityManager, owner: string) =>
      leasePaymentToken(em, service.database.vault, field, { organizationId, token, owner }, new Date())
    const em = service.database.orm.em.fork()
    await lease(em, 'first')
    const second = service.database.orm.em.fork()
    const connectionOf = second.getConnection.bind(second)
    let statements = 0
    second.getConnection = () => {
      statements += 1
      const release = () => releasePaymentToken(em, { organizationId, token, owner: 'first' })
      const connection = connectionOf()
      return {
        ensureConnection: statements === 2 ? release : () => connection.ensureConnection(),
        getClient: () => connection.getClient(),
      } as typeof connection
    }
    expect(await lease(second, 'second')).toMatchObject({ last4: '1111' })
    expect(statements).toBe(3)
  })

  test('under one Idempotency-Key makes one instrument, and every answer is that one or 409', async () => {
    const { api } = payments.merchant
    const { id: customerId } = await create(api, 'customers', {})
    const { token } = await tokenOf()
    const post = () =>
      api.post('payment-instruments', { customerId, token }, { 'Idempotency-Key': `once-${token}` })
    const responses = await Promise.all(Array.from({ length: 12 }, post))
    const made = responses.filter(({ status }) => status === 201)
    expect(responses.filter(({ status }) => status !== 201 && status !== 409)).toEqual([])
    expect(new Set([...made, await post()].map(({ body }) => body.id)).size).toBe(1)
  })
})
