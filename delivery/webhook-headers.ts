/** The headers that a merchant gives a webhook, and its credential's. Ours are set in delivery/attempt.ts. */
import type { FieldProblem, InvalidField } from '../billing/errors.ts'
import type { WebhookAuth } from '../db/entities/service-credential.ts'
import type { StoredHeader, WebhookHeader } from '../db/entities/webhook.ts'
import type { Vault } from '../db/vault.ts'

/** Names that the service, HTTP or a proxy controls. */
const RESERVED =
  /^(content-type|content-length|content-encoding|transfer-encoding|user-agent|security-signature|webhook-id|host|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect|date)$/i
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const PRINTABLE = /^[\x20-\x7e]*$/
export const MASK = '***'

/** With `hasCredential`, `Authorization` is the credential's. */
export function webhookHeaderProblems(
  headers: readonly Pick<WebhookHeader, 'name' | 'value'>[],
  hasCredential: boolean,
): InvalidField[] {
  const seen = new Set<string>()
  return headers.flatMap(({ name, value }, index) => {
    const lower = name.toLowerCase()
    const repeated = seen.has(lower)
    seen.add(lower)
    const ofName = nameProblem(name, { repeated, hasCredential })
    const ofValue = PRINTABLE.test(value)
      ? null
      : ({ code: 'wrong-format', message: 'must consist of printable ASCII characters' } as const)
    return [
      ...(ofName === null ? [] : [{ field: `headers.${index}.name`, ...ofName }]),
      ...(ofValue === null ? [] : [{ field: `headers.${index}.value`, ...ofValue }]),
    ]
  })
}

export interface StoredHeaders {
  readonly headers: readonly StoredHeader[]
  readonly headerValuesCipher?: string | null | undefined
}

export async function openHeaders(
  { headers, headerValuesCipher }: StoredHeaders,
  vault: Pick<Vault, 'open'>,
): Promise<WebhookHeader[]> {
  const values =
    headerValuesCipher == null ? [] : (JSON.parse(await vault.open(headerValuesCipher)) as string[])
  return headers.map(({ name, status, value }, index) => ({
    name,
    value: values[index] ?? value ?? '',
    status,
  }))
}

export async function sealHeaders(
  headers: readonly WebhookHeader[],
  vault: Pick<Vault, 'seal'>,
): Promise<{ headers: StoredHeader[]; headerValuesCipher: string | null }> {
  const values = headers.map(({ value }) => value)
  return {
    headers: headers.map(({ name, status }) => ({ name, status })),
    headerValuesCipher: values.length === 0 ? null : await vault.seal(JSON.stringify(values)),
  }
}

function nameProblem(
  name: string,
  { repeated, hasCredential }: { readonly repeated: boolean; readonly hasCredential: boolean },
): FieldProblem | null {
  if (!TOKEN.test(name)) return { code: 'wrong-format', message: 'must be a valid header name' }
  if (RESERVED.test(name))
    return { code: 'not-allowed', message: 'must not be a header that the service sets' }
  if (hasCredential && name.toLowerCase() === 'authorization') {
    return { code: 'not-allowed', message: 'must not be Authorization, which the service credential sets' }
  }
  return repeated ? { code: 'not-unique', message: 'must be unique in the list' } : null
}

export function ownHeaders(
  headers: readonly WebhookHeader[],
  auth: WebhookAuth | null,
): Record<string, string> {
  return {
    ...Object.fromEntries(
      headers.filter(({ status }) => status === 'active').map(({ name, value }) => [name, value]),
    ),
    ...(auth?.type === 'basic'
      ? { Authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}` }
      : {}),
  }
}

/** Masks the values of the merchant's headers, because the log is not encrypted. */
export function maskedHeaders(
  headers: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Object.hasOwn(own, name) ? MASK : value]),
  )
}
