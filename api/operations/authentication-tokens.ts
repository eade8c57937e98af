/** Authentication tokens: the merchant's server creates one for a customer, and the browser exchanges it for a JWT. */
import { customerTokenExpiry } from '../../access/credential-lifetimes.ts'
import { InvalidFieldsError } from '../../billing/errors.ts'
import { createAuthenticationToken } from '../../commands/access/create-authentication-token.ts'
import { latestCustomerTokenKey } from '../../commands/access/customer-token-keys.ts'
import {
  endAuthenticationToken,
  exchangeAuthenticationToken,
  findAuthenticationToken,
  isValid,
} from '../../commands/access/use-authentication-token.ts'
import type { AuthenticationToken as AuthenticationTokenRow } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { signCustomerToken } from '../http/customer-jwt.ts'
import { Problem } from '../http/problems.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import type { AuthenticationToken, CustomerToken } from '../schemas/authentication-token.ts'
import { requireGrantable, scopeProblems } from './api-keys.ts'

/** POST: without `Location`, which would put the value into the logs of proxies. */
export async function postAuthenticationToken(context: OperationContext): Promise<OperationResponse> {
  const { customerId } = context.body<AuthenticationToken>()
  return await context.commit(async (unit) => {
    const { row, value } = await createAuthenticationToken(unit, context.keys, customerId)
    return { body: present(row, value) }
  })
}

/** GET: 404 unless the token is still valid. */
export async function getAuthenticationToken(context: OperationContext): Promise<OperationResponse> {
  const value = context.params.token ?? ''
  const row = await findAuthenticationToken(context, context.keys.installation, value)
  if (row === null || !isValid(row, context.now())) throw notFound()
  return { body: present(row, value) }
}

/** DELETE: revokes the token and every customer token issued from it. */
export async function deleteAuthenticationToken(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const row = await locked(unit, context)
    if (row === null) throw notFound()
    await endAuthenticationToken(unit, row)
    return {}
  })
}

/** POST …/exchange: of simultaneous exchanges of a token, one succeeds. */
export async function exchangeToken(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const row = await locked(unit, context)
    if (row === null || !isValid(row, unit.now)) throw notFound()
    const { acl, expiredTime: asked, invalidate } = context.body<CustomerToken>()
    requireGrantable(acl, context)
    const expiry = customerTokenExpiry(asked == null ? null : Date.parse(asked), unit.now.getTime())
    const failures = scopeProblems(acl, unit.organizationId)
    if ('problem' in expiry) failures.push({ field: 'expiredTime', ...expiry.problem })
    if (failures.length > 0 || 'problem' in expiry) throw new InvalidFieldsError(failures)
    const made = exchangeAuthenticationToken(unit, row, {
      acl,
      expiredTime: new Date(expiry.expiredTime),
      isConsumed: invalidate ?? true,
    })
    const key = await latestCustomerTokenKey(unit.em, context.keys.vault, unit.now)
    return {
      body: {
        id: made.id,
        type: 'customer',
        token: await signCustomerToken(made, key, context.baseUrl),
        customerId: made.customerId,
        acl: made.acl,
        expiredTime: made.expiredTime.toISOString(),
      },
    }
  })
}

async function locked(
  unit: UnitOfWork,
  { keys, params }: OperationContext,
): Promise<AuthenticationTokenRow | null> {
  return await findAuthenticationToken(unit, keys.installation, params.token ?? '', true)
}

function present({ customerId, expiredTime }: AuthenticationTokenRow, token: string) {
  return { token, customerId, expiredTime: expiredTime.toISOString() }
}

/** The value is a secret, so the detail does not repeat it. */
function notFound(): Problem {
  return new Problem('not-found', 'The authentication token does not exist or has expired.')
}
