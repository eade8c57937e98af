import { randomBytes } from 'node:crypto'
import { type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { ServiceCredential as ServiceCredentialRow } from '../../db/entities/index.ts'
import { serviceCredentialSearch, type WebhookAuth } from '../../db/entities/service-credential.ts'
import { lockRow } from '../../db/lock-row.ts'
import { presentServiceCredential } from '../../representations/service-credential.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import { changeRow } from '../resources/change-row.ts'
import { notFound, type Resource, type Writer } from '../resources/resource.ts'
import { respondWith } from '../resources/respond.ts'
import { ServiceCredential, type ServiceCredentialStatus } from '../schemas/service-credential.ts'

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
    type: null,
    'auth.type': null,
    'auth.username': null,
    'auth.password': null,
  }),
  present: (row, { baseUrl, keys }) => presentServiceCredential(row, baseUrl, keys.vault),
}

export const serviceCredentialWriter: Pick<Writer<ServiceCredentialRow, ServiceCredential>, 'create'> = {
  async create(unit, id, body, { keys }) {
    const auth = checkedAuth(body)
    return unit.create(ServiceCredentialRow, {
      id,
      host: body.host,
      authCipher: await keys.vault.seal(JSON.stringify(auth)),
      status: body.status ?? 'active',
    })
  },
}

/** Returns 160 random bits that identify a credential and reveal nothing about it. */
export const newCredentialHash = (): string => randomBytes(20).toString('hex')

/** PATCH: changes only the status; another host or password is another credential. */
export async function patchServiceCredential(context: OperationContext): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  return await context.commit(async (unit) => {
    const row = await lockRow(unit, serviceCredentials.entity, id)
    if (row === null) throw notFound(serviceCredentials, id)
    requirePreconditions(context.preconditions, row.revision)
    const { status } = context.body<ServiceCredentialStatus>()
    await changeRow(unit, row, () => void Object.assign(row, { status }))
    return await respondWith(context, serviceCredentials, row)
  })
}

function checkedAuth({ host, auth }: ServiceCredential): WebhookAuth {
  const failures: InvalidField[] = []
  if (!isHost(host))
    failures.push({
      field: 'host',
      code: 'wrong-format',
      message: 'must be a host name without scheme, port or path',
    })
  const { type, username = '', password } = auth
  if (type === 'basic') {
    if (username === '') failures.push({ field: 'auth.username', code: 'required', message: 'is required' })
    if (username.includes(':'))
      failures.push({ field: 'auth.username', code: 'wrong-format', message: 'must not contain a colon' })
    if (password === undefined)
      failures.push({ field: 'auth.password', code: 'required', message: 'is required' })
  }
  if (failures.length > 0) throw new InvalidFieldsError(failures)
  return type === 'basic' ? { type, username, password: password ?? '' } : { type: 'none' }
}

function isHost(text: string): boolean {
  const url = `https://${text}/`
  return URL.canParse(url) && new URL(url).hostname === text.toLowerCase()
}
