/** Several accounts behind one gateway: where a charge goes, and whose decline is the last word. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ulid } from 'ulid'
import { dispatchByAccount, type GatewayAccountFacts, type GatewayRoutes } from '../../gateways/accounts.ts'
import { createGateway } from '../../gateways/gateways.ts'
import { carryOut, type PendingMovement } from '../../gateways/movement.ts'
import type { Charge, Gateway } from '../../gateways/port.ts'
import { createStripeGateway } from '../../gateways/stripe.ts'
import { TEST_CARDS, TEST_CVV } from '../support/cards.ts'
import { type ScriptedStripe, startScriptedStripe } from '../support/scripted-stripe.ts'
import { referenceIn } from '../support/stored-card.ts'

const SECRET_KEY = 'sk_test_scripted'
const ORGANIZATION = 'org_accounts'
const INTENT = /^POST \/v1\/payment_intents$/

describe('the gateway of several accounts', () => {
  let providers: ScriptedStripe[]
  let adapters: Gateway[]
  beforeAll(async () => {
    providers = [await startScriptedStripe(SECRET_KEY), await startScriptedStripe(SECRET_KEY)]
    adapters = providers.map(({ port }) =>
      createStripeGateway({
        secretKey: SECRET_KEY,
        takesCards: true,
        returnUrl: 'https://billing.example.com/returned',
        host: { protocol: 'http', host: '127.0.0.1', port },
      }),
    )
  })
  afterAll(async () => {
    for (const provider of providers) await provider.close()
  })
  const adapterOf = (id: string): Gateway => {
    const adapter = adapters[Number(id.slice(1)) % adapters.length]
    if (adapter === undefined) throw new Error(`no account ${id}`)
    return adapter
  }

  type Account = Partial<GatewayAccountFacts> & { readonly pan?: string }
  /** Each account holds a card of its own. The providers have them in turn. */
  const withAccounts = async (...accounts: Account[]) => {
    const references: string[] = []
    for (const [index, { pan = TEST_CARDS.approves }] of accounts.entries()) {
      const card = { pan, cvv: TEST_CVV, expMonth: 12, expYear: 2090 }
      const options = { isForPresentCustomer: true }
      const stored = referenceIn(await adapterOf(`a${index}`).store(ORGANIZATION, card, ulid(), options))
      references.push(`account/a${index}/${stored}`)
    }
    const facts = (id: string): GatewayAccountFacts => ({
      id,
      gatewayName: 'Stripe',
      revision: 1,
      isActive: true,
      acceptedCurrencies: ['EUR'],
      paymentCardSchemes: [],
      takesCardNumbers: true,
      dailyLimits: [],
      descriptor: null,
      secretKey: null,
      webhookSecret: null,
      ...accounts[Number(id.slice(1))],
    })
    const own = createGateway('live', '', '')
    const gateway = dispatchByAccount(
      own,
      {
        find: async (_, id) => facts(id),
        active: async () => accounts.map((_, index) => facts(`a${index}`)).filter((one) => one.isActive),
      },
      routesInMemory(references.slice(1)),
      {
        of: ({ id }) => adapterOf(id),
        probe: async () => {},
        readNotification: () => {
          throw new Error('not asked for')
        },
      },
    )
    const charge: Charge = {
      organizationId: ORGANIZATION,
      requestId: ulid(),
      amount: '12.5',
      currency: 'EUR',
      reference: references[0] ?? '',
      customer: null,
    }
    return { gateway, charge }
  }
  const intentsOf = ({ requestId }: Charge) =>
    providers
      .flatMap((provider) => provider.intents())
      .filter(({ metadata }) => (metadata as { requestId?: string }).requestId === requestId)
  const outcomeOf = (
    gateway: Gateway,
    charge: Charge,
    isUnknown: boolean,
    members: Pick<Partial<PendingMovement>, 'isWanted' | 'isStillWanted'> = {},
  ) =>
    carryOut(
      gateway,
      { movement: { kind: 'charge', charge }, since: Date.now(), isUnknown, isWanted: true, ...members },
      Date.now(),
      Date.now,
    )

  test('ends a charge that a present customer approved and the bank then declined for now', async () => {
    const { gateway, charge: offSession } = await withAccounts({ pan: TEST_CARDS.asksAlways }, {})
    const charge = { ...offSession, customer: { returnUrl: null } }
    const waiting = await outcomeOf(gateway, charge, false)
    expect(waiting).toMatchObject({ result: 'unknown', approvalUrl: expect.any(String) })
    providers[0]?.answer(waiting.approvalUrl ?? '', true, 'generic_decline')
    const declined = { result: 'declined', decline: 'soft', heldBy: { reference: charge.reference } }
    expect(await outcomeOf(gateway, charge, true)).toMatchObject(declined)
    expect(await gateway.charge(charge)).toMatchObject(declined)
    expect(intentsOf(charge)).toHaveLength(1)
  })

  test.each([
    ['the next account', [{ pan: TEST_CARDS.declines }, {}], 'approved', 'account/a1/'],
    ['none, where no other holds the card', [{ pan: TEST_CARDS.declines }], 'declined', 'account/a0/'],
  ] as const)('goes on from a decline whose response was lost to %s', async (_, accounts, result, held) => {
    const { gateway, charge } = await withAccounts(...accounts)
    providers[0]?.fail(INTENT, { after: { status: 500, error: { type: 'api_error' } } })
    expect(await outcomeOf(gateway, charge, false)).toMatchObject({ result: 'unknown' })
    const heldBy = { reference: expect.stringContaining(held) }
    expect(await outcomeOf(gateway, charge, true)).toMatchObject({ result, heldBy })
    expect(intentsOf(charge)).toHaveLength(accounts.length)
  })

  test('sends no charge on whose invoice has ended while an account was asked', async () => {
    const { gateway, charge } = await withAccounts({ pan: TEST_CARDS.declines }, {})
    const isStillWanted = async () => false
    const declined = { result: 'declined', decline: 'soft', heldBy: { reference: charge.reference } }
    expect(await outcomeOf(gateway, charge, false, { isStillWanted })).toMatchObject(declined)
    // The route has ended: neither does a repetition.
    expect(await outcomeOf(gateway, charge, true)).toMatchObject(declined)
    expect(intentsOf(charge)).toHaveLength(1)
  })

  test('sends no charge again whose invoice has ended while an account was asked for its outcome', async () => {
    const { gateway, charge } = await withAccounts({}, {})
    providers[0]?.fail(INTENT, { before: { status: 500, error: { type: 'api_error' } } })
    expect(await outcomeOf(gateway, charge, false)).toMatchObject({ result: 'unknown' })
    const isStillWanted = async () => false
    expect(await outcomeOf(gateway, charge, true, { isStillWanted })).toMatchObject({ result: 'unknown' })
    expect(await outcomeOf(gateway, charge, true, { isWanted: false })).toMatchObject({ result: 'canceled' })
    expect(intentsOf(charge)).toEqual([])
  })

  test.each([
    ['all of which can be reached', false, 'a0', ['a1', 'a2']],
    ['the first of which cannot be reached', true, 'a1', ['a2', 'a3']],
  ] as const)('stores a card with three accounts of five, %s', async (_, fails, first, others) => {
    const { gateway } = await withAccounts({}, {}, {}, {}, {})
    const error = { type: 'api_error' }
    if (fails) providers[0]?.fail(/^POST \/v1\/payment_methods$/, { before: { status: 500, error } })
    const card = { pan: TEST_CARDS.approves, cvv: null, expMonth: 12, expYear: 2090 }
    const held = (id: string) => expect.stringMatching(`^account/${id}/`)
    expect(await gateway.store(ORGANIZATION, card, ulid())).toMatchObject({
      reference: held(first),
      backups: others.map(held),
    })
  })

  test.each([
    [
      'that may take it later has the last word',
      [{ acceptedCurrencies: ['USD'] }, { isActive: false }],
      'soft',
    ],
    ['that comes first has it among equals', [{ isActive: false }, { isActive: false }], 'soft'],
    ['of another currency refuses for good', [{ acceptedCurrencies: ['USD'] }], 'hard'],
  ] as const)('an account %s', async (_, accounts, decline) => {
    const { gateway, charge } = await withAccounts(...accounts)
    const reason = decline === 'soft' ? 'gateway-account-inactive' : 'currency-not-accepted'
    expect(await gateway.charge(charge)).toMatchObject({
      result: 'declined',
      decline,
      raw: expect.stringContaining(reason),
    })
    expect(intentsOf(charge)).toEqual([])
  })
})

/** Without limits. */
function routesInMemory(backups: readonly string[]): GatewayRoutes {
  const rows = new Map<string, { reference: string | null; hasEnded: boolean; since: number }>()
  const sentTo = ({ requestId }: Charge) => rows.get(requestId) ?? { reference: null, since: null }
  return {
    async send(charge, from, { reference }) {
      const row = rows.get(charge.requestId)
      const isFirst = from === null && row === undefined
      if (!isFirst && (from === null || row?.reference !== from || row.hasEnded)) return sentTo(charge)
      rows.set(charge.requestId, { since: Date.now(), ...row, reference, hasEnded: false })
      return { reference, since: null }
    },
    async end(charge, from) {
      const row = rows.get(charge.requestId)
      if (row === undefined && from === null) {
        rows.set(charge.requestId, { reference: null, hasEnded: true, since: Date.now() })
      } else if (row?.reference === from && from !== null) row.hasEnded = true
      return sentTo(charge)
    },
    last: async (charge) => sentTo(charge).reference,
    isOpen: async ({ requestId }) => rows.get(requestId)?.hasEnded === false,
    backups: async () => backups,
    uncount: async () => {},
  }
}
