/** Every response must match the OpenAPI document and hold no card data; otherwise the client throws. */
import { requireNoCardData } from './card-data.ts'
import { contractProblem } from './contract.ts'

export interface ApiResponse<T = Record<string, unknown>> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

export interface ApiClient {
  get<T = Record<string, unknown>>(path: string, headers?: Record<string, string>): Promise<ApiResponse<T>>
  post<T = Record<string, unknown>>(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse<T>>
  put<T = Record<string, unknown>>(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse<T>>
  delete<T = Record<string, unknown>>(path: string, headers?: Record<string, string>): Promise<ApiResponse<T>>
  /** The body is sent as it is. */
  send<T = Record<string, unknown>>(method: string, path: string, init?: RequestInit): Promise<ApiResponse<T>>
}

/** `credential` are headers sent with every request. */
export function apiClient(
  baseUrl: string,
  organizationId: string,
  credential: Record<string, string>,
): ApiClient {
  const send = async <T>(method: string, path: string, init: RequestInit = {}): Promise<ApiResponse<T>> => {
    const url = path.startsWith('/')
      ? `${baseUrl}${path}`
      : `${baseUrl}/organizations/${organizationId}${/^[^?]/.test(path) ? '/' : ''}${path}`
    const headers = new Headers(init.headers)
    for (const [name, value] of Object.entries(credential)) if (!headers.has(name)) headers.set(name, value)
    const response = await fetch(url, { ...init, method, headers })
    const text = await response.text()
    const { pathname, search } = new URL(url)
    // The document's example of a payment token has the number of a published test card.
    if (pathname !== '/openapi.json') requireNoCardData(`the answer to ${method}`, text)
    const { status, headers: received } = response
    const problem = contractProblem({
      method,
      path: `${pathname}${search}`,
      status,
      headers: received,
      text,
    })
    if (problem !== null) throw new Error(problem)
    const isJson = (response.headers.get('content-type') ?? '').includes('json')
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson && text !== '' ? JSON.parse(text) : text) as T,
    }
  }
  const sendJson = <T>(method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    send<T>(method, path, {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
    })
  return {
    send,
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, body, headers) => sendJson('POST', path, body, headers),
    put: (path, body, headers) => sendJson('PUT', path, body, headers),
    delete: (path, headers = {}) => send('DELETE', path, { headers }),
  }
}
