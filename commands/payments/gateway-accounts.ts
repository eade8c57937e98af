import type { EntityManager } from '@mikro-orm/postgresql'
import type { GatewayCredentials } from '../../db/entities/gateway-account.ts'
import { GatewayAccount } from '../../db/entities/index.ts'
import { plainRowReader } from '../../db/plain-rows.ts'
import { statement } from '../../db/statement.ts'
import type { Vault } from '../../db/vault.ts'
import type { GatewayAccountFacts, GatewayAccountSource } from '../../gateways/accounts.ts'

/** Reads at each use: a change of an account holds from the next movement on. */
export function gatewayAccountSource(
  em: () => EntityManager,
  vault: Pick<Vault, 'open'>,
): GatewayAccountSource {
  return {
    async find(organizationId, id) {
      const unit = em()
      const [row] = await statement<Record<string, unknown>>(
        unit,
        'find-gateway-account',
        'select * from gateway_accounts where organization_id = ? and id = ?',
        [organizationId, id],
      )
      return row === undefined ? null : await factsOf(plainRowReader(unit, GatewayAccount)(row), vault)
    },
    async active(organizationId) {
      const unit = em()
      const rows = await statement<Record<string, unknown>>(
        unit,
        'find-active-gateway-accounts',
        `select * from gateway_accounts where organization_id = ? and status = 'active'
          order by priority, created_time, id`,
        [organizationId],
      )
      return await Promise.all(rows.map((row) => factsOf(plainRowReader(unit, GatewayAccount)(row), vault)))
    },
  }
}

async function factsOf(account: GatewayAccount, vault: Pick<Vault, 'open'>): Promise<GatewayAccountFacts> {
  const credentials = await openedCredentials(vault, account.credentialsCipher)
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

async function openedCredentials(
  vault: Pick<Vault, 'open'>,
  cipher: string | null | undefined,
): Promise<GatewayCredentials | null> {
  return cipher == null ? null : (JSON.parse(await vault.open(cipher)) as GatewayCredentials)
}

/** Members that are not given stay as `before`, the row's ciphertext, has them. */
export async function sealedCredentials(
  vault: Pick<Vault, 'seal' | 'open'>,
  given: Partial<GatewayCredentials>,
  before: string | null = null,
): Promise<string> {
  const kept = await openedCredentials(vault, before)
  const credentials: GatewayCredentials = {
    secretKey: given.secretKey ?? kept?.secretKey ?? '',
    publishableKey: given.publishableKey ?? kept?.publishableKey ?? null,
    webhookSecret: given.webhookSecret ?? kept?.webhookSecret ?? null,
  }
  return await vault.seal(JSON.stringify(credentials))
}
