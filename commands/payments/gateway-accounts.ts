import type { EntityManager } from '@mikro-orm/postgresql'
import { canonicalJson } from '../../billing/canonical-json.ts'
import { lastUsed } from '../../billing/last-used.ts'
import type { GatewayCredentials } from '../../db/entities/gateway-account.ts'
import { GatewayAccount } from '../../db/entities/index.ts'
import { plainRowReader } from '../../db/plain-rows.ts'
import { statement } from '../../db/statement.ts'
import type { Vault } from '../../db/vault.ts'
import type { GatewayAccountFacts, GatewayAccountSource } from '../../gateways/accounts.ts'

/** How many accounts' credentials stay opened in memory, as the adapters that are made of them do. */
const KEPT = 1_000

/** Reads at each use: a change of an account holds from the next movement on. */
export function gatewayAccountSource(
  em: () => EntityManager,
  vault: Pick<Vault, 'open'>,
): GatewayAccountSource {
  // A ciphertext never opens to anything else.
  const opened = lastUsed(
    KEPT,
    (cipher: string) => cipher,
    (cipher) => openedCredentials(vault, cipher),
  )
  const factsOf = async (account: GatewayAccount): Promise<GatewayAccountFacts> => {
    const { credentialsCipher } = account
    return factsWith(account, credentialsCipher == null ? null : await opened(credentialsCipher))
  }
  return {
    async find(organizationId, id) {
      const unit = em()
      const [row] = await statement<Record<string, unknown>>(
        unit,
        'find-gateway-account',
        'select * from gateway_accounts where organization_id = ? and id = ?',
        [organizationId, id],
      )
      return row === undefined ? null : await factsOf(plainRowReader(unit, GatewayAccount)(row))
    },
    async active(organizationId) {
      return await Promise.all((await activeAccounts(em(), organizationId)).map(factsOf))
    },
  }
}

/** Returns what Stripe's form works with in a browser; null: the organization has no such account. */
export async function stripePublishableKey(
  em: EntityManager,
  vault: Pick<Vault, 'open'>,
  organizationId: string,
): Promise<string | null> {
  for (const { gatewayName, credentialsCipher } of await activeAccounts(em, organizationId)) {
    if (gatewayName !== 'Stripe' || credentialsCipher == null) continue
    const { publishableKey } = await openedCredentials(vault, credentialsCipher)
    if (publishableKey !== null) return publishableKey
  }
  return null
}

async function activeAccounts(em: EntityManager, organizationId: string): Promise<GatewayAccount[]> {
  const rows = await statement<Record<string, unknown>>(
    em,
    'find-active-gateway-accounts',
    `select * from gateway_accounts where organization_id = ? and status = 'active'
      order by priority, created_time, id`,
    [organizationId],
  )
  return rows.map(plainRowReader(em, GatewayAccount))
}

function factsWith(account: GatewayAccount, credentials: GatewayCredentials | null): GatewayAccountFacts {
  return {
    id: account.id,
    gatewayName: account.gatewayName,
    revision: account.revision,
    isActive: account.status === 'active',
    acceptedCurrencies: account.acceptedCurrencies,
    paymentCardSchemes: account.paymentCardSchemes,
    takesCardNumbers: account.takesCardNumbers,
    descriptor: account.descriptor ?? null,
    dailyLimits: account.dailyLimits,
    secretKey: credentials?.secretKey ?? null,
    webhookSecret: credentials?.webhookSecret ?? null,
  }
}

async function openedCredentials(vault: Pick<Vault, 'open'>, cipher: string): Promise<GatewayCredentials> {
  return JSON.parse(await vault.open(cipher)) as GatewayCredentials
}

/** Members that are not given stay as `before`, the row's ciphertext, has them. Returns `before` itself if it has all of them. */
export async function sealedCredentials(
  vault: Pick<Vault, 'seal' | 'open'>,
  given: Partial<GatewayCredentials>,
  before: string | null = null,
): Promise<string> {
  const kept = before === null ? null : await openedCredentials(vault, before)
  const credentials: GatewayCredentials = {
    secretKey: given.secretKey ?? kept?.secretKey ?? '',
    publishableKey: given.publishableKey ?? kept?.publishableKey ?? null,
    webhookSecret: given.webhookSecret ?? kept?.webhookSecret ?? null,
  }
  if (before !== null && canonicalJson(credentials) === canonicalJson(kept)) return before
  return await vault.seal(JSON.stringify(credentials))
}
