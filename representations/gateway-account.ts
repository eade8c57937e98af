import { jsonAmount } from '../billing/money.ts'
import type { GatewayAccount } from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'

/** Never shows the credentials. */
export function presentGatewayAccount(account: GatewayAccount, baseUrl: string) {
  return {
    id: account.id,
    organizationId: account.organizationId,
    gatewayName: account.gatewayName,
    method: 'payment-card' as const,
    status: account.status,
    acceptedCurrencies: account.acceptedCurrencies,
    paymentCardSchemes: account.paymentCardSchemes,
    priority: account.priority,
    dailyLimits: account.dailyLimits.map(({ currency, count, amount }) => ({
      currency,
      count,
      amount: amount === null ? null : jsonAmount(amount),
    })),
    takesCardNumbers: account.takesCardNumbers,
    descriptor: account.descriptor ?? null,
    customFields: account.customFields,
    revision: account.revision,
    createdTime: account.createdTime.toISOString(),
    updatedTime: account.updatedTime.toISOString(),
    _links: [
      { rel: 'self', href: resourceUrl(baseUrl, account.organizationId, 'gateway-accounts', account.id) },
    ],
  }
}
