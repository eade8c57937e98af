/** Passwords are hashed before the transaction, which would wait for the hash otherwise. */
import { endTokensOfCredential } from '../../commands/access/end-access.ts'
import {
  type CheckedPassword,
  checkedPassword,
  createCredential,
  type GivenCredential,
  updateCredential,
} from '../../commands/access/save-credential.ts'
import { CustomerCredential as CredentialRow } from '../../db/entities/index.ts'
import { newId } from '../../db/new-id.ts'
import { presentCustomerCredential } from '../../representations/customer-credential.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { create } from '../resources/create.ts'
import { remove } from '../resources/delete.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { upsert } from '../resources/upsert.ts'
import { CustomerCredential } from '../schemas/customer-credential.ts'
import { instantOf } from './instants.ts'

export const credentials: Resource<CredentialRow> = {
  name: 'Credential',
  label: 'credential',
  path: 'credentials',
  schema: CustomerCredential,
  entity: CredentialRow,
  table: 'customer_credentials',
  search: 'row.id',
  fields: {},
  present: (row, { baseUrl }) => presentCustomerCredential(row, baseUrl),
}

export async function postCredential(context: OperationContext): Promise<OperationResponse> {
  const { password } = context.body<CustomerCredential>()
  const writer = writerOf(await hashed(context, password, null))
  return await create(context, credentials, writer, () => newId('cred'))
}

export async function putCredential(context: OperationContext): Promise<OperationResponse> {
  const { em, organizationId, params, preconditions } = context
  const row = await em.fork().findOne(CredentialRow, { organizationId, id: params.id ?? '' })
  requirePreconditions(preconditions, row?.revision ?? null)
  const { password } = context.body<CustomerCredential>()
  return await upsert(
    context,
    credentials,
    writerOf(await hashed(context, password, row?.passwordHash ?? null)),
  )
}

/** Ends the credential's password tokens and the customer's authentication tokens. */
export async function deleteCredential(context: OperationContext): Promise<OperationResponse> {
  return await remove(context, credentials, endTokensOfCredential)
}

async function hashed(
  { em, organizationId, passwords }: OperationContext,
  password: string | undefined,
  known: string | null,
): Promise<CheckedPassword | null> {
  return password === undefined ? null : await checkedPassword(em, organizationId, passwords, password, known)
}

function writerOf(password: CheckedPassword | null): Writer<CredentialRow, CustomerCredential> {
  const given = (
    { username, customerId, expiredTime }: CustomerCredential,
    row: CredentialRow | null,
  ): GivenCredential => ({
    username,
    customerId,
    expiredTime: expiredTime === undefined ? undefined : instantOf(expiredTime, row?.expiredTime),
    password,
  })
  return {
    create: (unit, id, body) => createCredential(unit, id, given(body, null)),
    update: (unit, row, body) => updateCredential(unit, row, given(body, row)),
  }
}
