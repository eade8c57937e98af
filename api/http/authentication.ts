/** Authenticates and authorizes requests. Credentials are read from the database on every request. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Context } from 'koa'
import { type AccessRule, permits } from '../../access/access-lists.ts'
import { addressIsAllowed } from '../../access/allowed-ips.ts'
import type { ApiKeyType } from '../../db/entities/api-key.ts'
import type { InstallationFacts } from '../../db/installation.ts'
import { inOrganization } from '../../db/organization-scope.ts'
import { statement } from '../../db/statement.ts'
import { together } from '../together.ts'
import type { customerTokenReader } from './customer-jwt.ts'
import { Problem } from './problems.ts'

export type KeyForm = 'secret' | 'publishable' | 'customer'

const FORMS: Readonly<Record<KeyForm, string>> = {
  secret: 'secret key',
  publishable: 'publishable key',
  customer: "customer's token",
}

export const KEY_HEADER = 'SVC-APIKEY'

export interface Credential {
  readonly form: KeyForm
  readonly organizationId: string
  readonly id: string
  /** Null for API keys. */
  readonly customerId: string | null
  /** Null permits everything that the form may call. */
  readonly acl: readonly AccessRule[] | null
  /** Null permits every address. */
  readonly allowedIps: readonly string[] | null
}

export interface CredentialSources {
  readonly installation: InstallationFacts
  /** By its hash. */
  readonly findKey: (hash: string) => Promise<KeyRow | undefined>
  readonly readCustomerToken: ReturnType<typeof customerTokenReader>
}

interface KeyRow {
  organization_id: string
  id: string
  type: ApiKeyType
  acl: AccessRule[] | null
  allowed_ips: string[] | null
}

/** Requests with the same key that come together are authenticated by one look-up, which begins after all of them. */
export function keyFinder(em: () => EntityManager): CredentialSources['findKey'] {
  return together(async (hash) => {
    const [row] = await statement<KeyRow>(em(), 'find-api-key', 'select * from find_api_key(?)', [hash])
    return () => row
  })
}

/** Throws `unauthorized` unless the request has exactly one credential, known and in its place. */
export async function authenticate(
  ctx: Context,
  em: EntityManager,
  { installation, findKey, readCustomerToken }: CredentialSources,
  { secretInAuthorization = false }: { readonly secretInAuthorization?: boolean },
): Promise<Credential> {
  const unauthorized = (detail: string) => new Problem('unauthorized', detail)
  const key = ctx.get(KEY_HEADER)
  const authorization = ctx.get('Authorization')
  if ([KEY_HEADER, 'Authorization'].flatMap((name) => valuesOf(ctx, name)).length > 1) {
    throw unauthorized(`Send one credential: ${KEY_HEADER} or Authorization, not both, and once.`)
  }
  if (key === '' && authorization === '')
    throw unauthorized(`Send a key: a secret one in the ${KEY_HEADER} header.`)
  if (authorization.startsWith('sk_') && !secretInAuthorization) {
    throw unauthorized(`Send the secret key in the ${KEY_HEADER} header.`)
  }
  if (key.startsWith('pk_')) {
    throw unauthorized(`Send the publishable key in Authorization, not in ${KEY_HEADER}.`)
  }
  const [, jwt] = /^Bearer +(.*)$/i.exec(authorization) ?? []
  if (jwt !== undefined) {
    const credential = await customerCredential(em, readCustomerToken, jwt)
    if (credential !== null) return credential
    throw unauthorized('The customer token does not exist, has expired or was revoked.')
  }
  const row = await findKey(installation.hashKey(key || authorization))
  if (row === undefined) throw unauthorized('The key does not exist in this environment.')
  return {
    form: row.type,
    organizationId: row.organization_id,
    id: row.id,
    customerId: null,
    acl: row.acl,
    allowedIps: row.allowed_ips,
  }
}

/** Node passes only the first of several `Authorization` headers on. */
function valuesOf(ctx: Context, header: string): string[] {
  return (ctx.req.headersDistinct[header.toLowerCase()] ?? []).filter((value) => value !== '')
}

/** Returns the challenges (RFC 9110) for the credentials that an operation accepts. */
export function challenge(accepts: readonly KeyForm[]): string {
  const apiKey = `ApiKey realm="organization", header="${KEY_HEADER}"`
  return accepts.includes('customer') ? `${apiKey}, Bearer realm="organization"` : apiKey
}

async function customerCredential(
  em: EntityManager,
  read: CredentialSources['readCustomerToken'],
  jwt: string,
): Promise<Credential | null> {
  const now = new Date()
  const name = await read(em, jwt, now)
  const [row] =
    name === null
      ? []
      : await inOrganization(name.organizationId, () =>
          statement<{ customer_id: string; acl: AccessRule[] }>(
            em,
            'find-customer-token',
            'select customer_id, acl from customer_tokens where organization_id = ? and id = ? and expired_time > ?',
            [name.organizationId, name.id, now],
          ),
        )
  if (name === null || row === undefined) return null
  return { form: 'customer', ...name, customerId: row.customer_id, acl: row.acl, allowedIps: null }
}

/** Throws `forbidden` for another organization, existing or not, or an operation, form or address not allowed. */
export function authorize(
  credential: Credential,
  organizationId: string,
  { accepts, operationId }: { readonly accepts: readonly KeyForm[]; readonly operationId: string },
  address: string,
): void {
  if (credential.organizationId !== organizationId) {
    throw new Problem('forbidden', 'The credential belongs to another organization.')
  }
  if (!accepts.includes(credential.form)) {
    throw new Problem('forbidden', `This operation does not accept a ${FORMS[credential.form]}.`)
  }
  if (credential.allowedIps !== null && !addressIsAllowed(credential.allowedIps, address)) {
    throw new Problem('forbidden', 'The key cannot be used from this IP address.')
  }
  if (!permits(credential.acl, organizationId, operationId)) {
    throw new Problem('forbidden', `The access list of the credential does not name ${operationId}.`)
  }
}
