/** What an order needs before it can be placed: an organization with website, customer, plan and webhook. */
import type { OrganizationKeys } from '../../commands/access/create-organization.ts'
import type { ApiClient } from './api-client.ts'
import { create } from './create.ts'
import type { TestService } from './service.ts'

export interface Catalogue extends OrganizationKeys {
  readonly api: ApiClient
  readonly websiteId: string
  readonly customerId: string
  readonly planId: string
  readonly webhookId: string | null
}

export async function catalogue(
  service: TestService,
  options: { webhook?: string } = {},
): Promise<Catalogue> {
  return await makeCatalogue(await service.organization(), options)
}

export async function makeCatalogue(
  organization: OrganizationKeys & { readonly api: ApiClient },
  options: { webhook?: string } = {},
): Promise<Catalogue> {
  const { api } = organization
  const make = async (path: string, body: object) => String((await create(api, path, body)).id)
  const webhookId = options.webhook === undefined ? null : await make('webhooks', { url: options.webhook })
  return {
    ...organization,
    webhookId,
    websiteId: await make('websites', { name: 'Shop' }),
    customerId: await make('customers', { email: 'ada@example.com', firstName: 'Ada' }),
    planId: await make('plans', {
      name: 'Monthly',
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: 9.9 },
      recurringInterval: { unit: 'month', length: 1 },
    }),
  }
}

export function orderBody(from: Catalogue, members: object = {}): object {
  return {
    orderType: 'subscription-order',
    customerId: from.customerId,
    websiteId: from.websiteId,
    items: [{ plan: { id: from.planId } }],
    ...members,
  }
}
