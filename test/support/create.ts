import type { ApiClient } from './api-client.ts'

/** Creates a resource and returns its body. @throws Error with the response if it is not created. */
export async function create(
  api: Pick<ApiClient, 'post'>,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const response = await api.post(path, body)
  if (response.status !== 201) {
    throw new Error(`POST ${path}: ${response.status} ${JSON.stringify(response.body)}`)
  }
  return response.body
}
