import { type ApiClient, apiClient } from './api-client.ts'
import type { Catalogue } from './catalogue.ts'
import type { TestService } from './service.ts'

/** Returns a client with a JWT of the customer; its access list has the permissions, by default all. */
export async function customerBrowser(
  service: TestService,
  merchant: Pick<Catalogue, 'api' | 'organizationId' | 'customerId'>,
  permissions: readonly string[] = ['*'],
): Promise<ApiClient> {
  const { api, organizationId, customerId } = merchant
  const { body: word } = await api.post('authentication-tokens', { mode: 'passwordless', customerId })
  const { status, body } = await api.post(`authentication-tokens/${word.token}/exchange`, {
    acl: [{ permissions }],
  })
  if (status !== 201) throw new Error(`no customer token: ${JSON.stringify(body)}`)
  return apiClient(service.baseUrl, organizationId, { Authorization: `Bearer ${body.token}` })
}
