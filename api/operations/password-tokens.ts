import { createPasswordToken, findPasswordToken } from '../../commands/access/create-password-token.ts'
import { PasswordToken as PasswordTokenRow } from '../../db/entities/index.ts'
import { presentPasswordToken } from '../../representations/issued-tokens.ts'
import { Problem } from '../http/problems.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import type { Resource } from '../resources/resource.ts'
import { PasswordToken } from '../schemas/password-token.ts'
import { mayCall } from './api-keys.ts'

export const passwordTokens: Resource<PasswordTokenRow> = {
  name: 'PasswordToken',
  label: 'password token',
  path: 'password-tokens',
  schema: PasswordToken,
  entity: PasswordTokenRow,
  table: 'password_tokens',
  search: 'row.id',
  fields: {},
  listed: 'row.expired_time > now()',
  async present(row, context) {
    const isShown = mayCall(context, 'PostPasswordToken')
    const value = isShown ? await context.keys.vault.open(row.tokenCipher) : null
    return presentPasswordToken(row, value, context.baseUrl)
  },
}

/** POST: without `Location`, which would put the value into the logs of proxies. */
export async function postPasswordToken(context: OperationContext): Promise<OperationResponse> {
  const { username, credentialId } = context.body<PasswordToken>()
  return await context.commit(async (unit) => {
    const given = { username, credentialId: credentialId ?? null }
    const { row, value } = await createPasswordToken(unit, context.keys, given)
    return { body: presentPasswordToken(row, value, context.baseUrl) }
  })
}

export async function getPasswordToken(context: OperationContext): Promise<OperationResponse> {
  const { em, organizationId, keys, params, baseUrl } = context
  const scope = { em, organizationId, now: context.now() }
  const value = params.id ?? ''
  const row = await findPasswordToken(scope, keys.installation, value)
  if (row === null) throw notFound()
  return { body: presentPasswordToken(row, value, baseUrl) }
}

export async function deletePasswordToken(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const row = await findPasswordToken(unit, context.keys.installation, context.params.id ?? '')
    if (row === null) throw notFound()
    const { organizationId, id } = row
    if ((await unit.em.nativeDelete(PasswordTokenRow, { organizationId, id })) === 0) throw notFound()
    return {}
  })
}

/** The value is a secret, so the detail does not repeat it. */
function notFound(): Problem {
  return new Problem('not-found', 'The password token does not exist or has expired.')
}
