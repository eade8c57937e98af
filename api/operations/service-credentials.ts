import { randomBytes } from 'node:crypto'
import { type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { ServiceCredential as ServiceCredentialRow } from '../../db/entities/index.ts'
import {
  type ServiceCredentialStatus,
  serviceCredentialSearch,
  type WebhookAuth,
} from '../../db/entities/service-credential.ts'
import { presentServiceCredential } from '../../representations/service-credential.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import { patch } from '../resources/patch.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { ServiceCredential } from '../schemas/service-credential.ts'

export const serviceCredentials: Resource<ServiceCredentialRow> = {
  name: 'ServiceCredential',
  label: 'service credential',
  path: 'service-credentials/webhook',
  schema: ServiceCredential,
  entity: ServiceCredentialRow,
  table: 'service_credentials',
  search: serviceCredentialSearch,
  fields: fieldsOf(ServiceCredential, {
    hash: { sql: 'row.id', type: 'text' },
    type: { sql: "'webhook'::text", type: 'text', folded: 'lower', always: true },
    'auth.type': null,
    'auth.username': null,
  }),
  present: (row, { baseUrl, keys }) => presentServiceCredential(row, baseUrl, keys.vault),
}

export const serviceCredentialWriter: Pick<Writer<ServiceCredentialRow, ServiceCredential>, 'create'> = {
  async create(unit, id, body, { keys }) {
    const { host, auth } = checked(body)
    const status = body.status ?? 'active'
    return unit.create(ServiceCredentialRow, {
      id,
      host,
      authCipher: await keys.vault.seal(JSON.stringify(auth)),
      status,
      deactivationTime: deactivationTimeOf(status, null, unit.now),
    })
  },
}

/** Returns 160 random bits, which reveal nothing about the credential. */
export const newCredentialHash = (): string => randomBytes(20).toString('hex')

/** Only the status: another host or password is another credential. */
export async function patchServiceCredential(context: OperationContext): Promise<OperationResponse> {
  return await patch<ServiceCredentialRow, ServiceCredential>(context, serviceCredentials, {
    changeable: ['status'],
    update({ now }, row, { status = 'active' }) {
      row.deactivationTime = deactivationTimeOf(status, row.deactivationTime ?? null, now)
      row.status = status
    },
  })
}

function deactivationTimeOf(status: ServiceCredentialStatus, before: Date | null, now: Date): Date | null {
  return status === 'deactivated' ? (before ?? now) : null
}

function checked({ host, auth = { type: 'none' } }: ServiceCredential): { host: string; auth: WebhookAuth } {
  const failures: InvalidField[] = []
  const name = hostNameOf(host)
  if (name === null) {
    const message = 'must be a host name without port, or a URL'
    failures.push({ field: 'host', code: 'wrong-format', message })
  }
  const { type, username = '', password } = auth
  if (type === 'basic') {
    if (username === '') failures.push({ field: 'auth.username', code: 'required', message: 'is required' })
    if (username.includes(':'))
      failures.push({ field: 'auth.username', code: 'wrong-format', message: 'must not contain a colon' })
    if (password === undefined)
      failures.push({ field: 'auth.password', code: 'required', message: 'is required' })
  }
  if (name === null || failures.length > 0) throw new InvalidFieldsError(failures)
  return {
    host: name,
    auth: type === 'basic' ? { type, username, password: password ?? '' } : { type: 'none' },
  }
}

/** Accepts a host name or a URL. */
function hostNameOf(text: string): string | null {
  const isUrl = /^https?:\/\//i.test(text)
  const url = isUrl ? text : `https://${text}/`
  if (!URL.canParse(url)) return null
  const { hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') return null
  if (isUrl) return hostname.length > LONGEST_HOST ? null : hostname
  return hostname === text.toLowerCase() && text.length <= LONGEST_HOST ? text : null
}

/** RFC 1035. */
const LONGEST_HOST = 253
