import { customerTokenExpiry } from '../../access/credential-lifetimes.ts'
import { type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import {
  type CreatedToken,
  createPasswordlessToken,
  createTokenOfCredential,
} from '../../commands/access/create-authentication-token.ts'
import { latestCustomerTokenKey } from '../../commands/access/customer-token-keys.ts'
import { checkSignIn, lockChecked } from '../../commands/access/sign-in.ts'
import {
  endAuthenticationToken,
  exchangeAuthenticationToken,
  findAuthenticationToken,
  isValid,
} from '../../commands/access/use-authentication-token.ts'
import { AuthenticationToken as AuthenticationTokenRow } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { customerLink, presentAuthenticationToken } from '../../representations/issued-tokens.ts'
import { signCustomerToken } from '../http/customer-jwt.ts'
import { Problem } from '../http/problems.ts'
import { retryHeaders } from '../http/rate-limit.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import type { Resource } from '../resources/resource.ts'
import { AuthenticationToken, type CustomerToken } from '../schemas/authentication-token.ts'
import { listProblems, mayCall, requireGrantable } from './api-keys.ts'

export const authenticationTokens: Resource<AuthenticationTokenRow> = {
  name: 'AuthenticationToken',
  label: 'authentication token',
  path: 'authentication-tokens',
  schema: AuthenticationToken,
  entity: AuthenticationTokenRow,
  table: 'authentication_tokens',
  search: 'row.id',
  fields: {},
  listed: 'row.consumed_time is null and row.expired_time > now()',
  async present(row, context) {
    const isShown = row.tokenCipher != null && mayCall(context, 'PostAuthenticationToken')
    const value = isShown ? await context.keys.vault.open(row.tokenCipher ?? '') : null
    return presentAuthenticationToken(row, value, context.baseUrl)
  },
}

/** POST: without `Location`, which would put the value into the logs of proxies. */
export async function postAuthenticationToken(context: OperationContext): Promise<OperationResponse> {
  const body = context.body<AuthenticationToken>()
  const create = modeOf(body) === 'password' ? await signIn(context, body) : passwordless(context, body)
  return await context.commit(async (unit) => {
    const { row, value } = await create(unit)
    return { body: presentAuthenticationToken(row, value, context.baseUrl) }
  })
}

export async function getAuthenticationToken(context: OperationContext): Promise<OperationResponse> {
  const value = context.params.token ?? ''
  const row = await findAuthenticationToken(context, context.keys.installation, value)
  if (row === null || !isValid(row, context.now())) throw notFound()
  return { body: presentAuthenticationToken(row, value, context.baseUrl) }
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

/** Of simultaneous exchanges of a token, one succeeds. */
export async function exchangeToken(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const row = await locked(unit, context)
    if (row === null || !isValid(row, unit.now)) throw notFound()
    const { acl, expiredTime: asked, invalidate } = context.body<CustomerToken>()
    requireGrantable(acl, context)
    const expiry = customerTokenExpiry(asked == null ? null : Date.parse(asked), unit.now.getTime())
    const failures = listProblems(acl, unit.organizationId)
    if ('problem' in expiry) failures.push({ field: 'expiredTime', ...expiry.problem })
    if (failures.length > 0 || 'problem' in expiry) throw new InvalidFieldsError(failures)
    const made = await exchangeAuthenticationToken(unit, row, {
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
        createdTime: made.createdTime.toISOString(),
        updatedTime: made.createdTime.toISOString(),
        _links: customerLink(made, context.baseUrl),
      },
    }
  })
}

type CreateToken = (unit: UnitOfWork) => Promise<CreatedToken>

function modeOf({ mode, customerId, username, password }: AuthenticationToken) {
  if (mode !== undefined) return mode
  return customerId !== undefined && username === undefined && password === undefined
    ? 'passwordless'
    : 'password'
}

/** Throws `forbidden` for a publishable key, which anyone can read. */
function passwordless(context: OperationContext, body: AuthenticationToken): CreateToken {
  const { customerId, username, password } = body
  if (context.credential.form !== 'secret') {
    throw new Problem('forbidden', 'The mode passwordless requires a secret key.')
  }
  const failures: InvalidField[] = Object.entries({ username, password }).flatMap(([field, value]) =>
    value === undefined
      ? []
      : [{ field, code: 'not-supported' as const, message: 'is supported for the mode password only' }],
  )
  if (customerId === undefined)
    failures.push({ field: 'customerId', code: 'required', message: 'is required' })
  if (customerId === undefined || failures.length > 0) throw new InvalidFieldsError(failures)
  return (unit) => createPasswordlessToken(unit, context.keys, customerId)
}

/** Throws `unauthorized` for wrong values, and `rate-limit-exceeded` after too many failures. */
async function signIn(context: OperationContext, body: AuthenticationToken): Promise<CreateToken> {
  const { em, organizationId, passwords, address, keys } = context
  const { username, password } = body
  if (username === undefined || password === undefined) {
    const missing = Object.entries({ username, password }).filter(([, value]) => value === undefined)
    throw new InvalidFieldsError(
      missing.map(([field]) => ({ field, code: 'required' as const, message: 'is required' })),
    )
  }
  const given = { username, password, address }
  const found = await checkSignIn(em, organizationId, passwords, given, context.now())
  switch (found.outcome) {
    case 'blocked':
      throw new Problem('rate-limit-exceeded', 'Too many failed attempts with this username.', {
        headers: retryHeaders(found.until, context.now()),
      })
    case 'rejected':
      throw wrongPassword()
    case 'accepted':
      return async (unit) => {
        const credential = await lockChecked(unit, found.credential)
        if (credential === null) throw wrongPassword()
        return await createTokenOfCredential(unit, keys, credential)
      }
  }
}

async function locked(
  unit: UnitOfWork,
  { keys, params }: OperationContext,
): Promise<AuthenticationTokenRow | null> {
  return await findAuthenticationToken(unit, keys.installation, params.token ?? '', true)
}

/** One text for every reason, so that it reveals no username. */
function wrongPassword(): Problem {
  return new Problem('unauthorized', 'The username or the password is wrong.')
}

/** The value is a secret, so the detail does not repeat it. */
function notFound(): Problem {
  return new Problem('not-found', 'The authentication token does not exist or has expired.')
}
