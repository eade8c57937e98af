import type { EntityManager } from '@mikro-orm/postgresql'
import type { PasswordHasher } from '../../access/password-hash.ts'
import { passwordProblem } from '../../access/password-pattern.ts'
import { usernameDigest } from '../../access/usernames.ts'
import { ConflictError } from '../../billing/errors.ts'
import { Customer, CustomerCredential } from '../../db/entities/index.ts'
import { lockOrganization } from '../../db/organization-lock.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { type References, references } from '../references.ts'
import { authenticationOptions } from './authentication-options.ts'
import { endPasswordTokens, endTokensOfCredential } from './end-access.ts'

export type CheckedPassword = { readonly hash: string } | { readonly problem: string }

export interface GivenCredential {
  readonly username: string
  readonly customerId: string
  /** null: it does not expire; undefined: the default of a new one, and what an existing one has. */
  readonly expiredTime: Date | null | undefined
  readonly password: CheckedPassword | null
}

/** Checks and hashes a password, before the transaction. Returns `known` if that is its hash already. */
export async function checkedPassword(
  em: EntityManager,
  organizationId: string,
  hasher: PasswordHasher,
  password: string,
  known: string | null,
): Promise<CheckedPassword> {
  // The pattern may be newer than the password that the credential has.
  if (known !== null && (await hasher.verify(password, known))) return { hash: known }
  const { passwordPattern } = await authenticationOptions(em, organizationId)
  const problem = passwordPattern === null ? null : passwordProblem(passwordPattern, password)
  if (problem !== null) return { problem }
  return { hash: await hasher.hash(password) }
}

/** @throws InvalidFieldsError naming `username`, `password`, `customerId` or `expiredTime`. */
export async function createCredential(
  unit: UnitOfWork,
  id: string,
  given: GivenCredential,
): Promise<CustomerCredential> {
  const found = references(unit)
  if (given.password === null) found.fail('password', 'required', 'is required')
  // Before the organization is locked, as a deletion of the customer locks the customer first.
  await found.required(Customer, 'customerId', given.customerId)
  await check(unit, found, id, given, null)
  found.check()
  return unit.create(CustomerCredential, {
    id,
    customerId: given.customerId,
    username: given.username,
    usernameDigest: usernameDigest(given.username),
    passwordHash: hashOf(given.password) ?? '',
    expiredTime: given.expiredTime === undefined ? await defaultExpiry(unit) : given.expiredTime,
  })
}

/**
 * Changes a locked credential; another password or an earlier end ends its tokens. The same password, which may be what
 * the holder of a password token has set, ends the password tokens alone. Throws InvalidFieldsError, ConflictError.
 */
export async function updateCredential(
  unit: UnitOfWork,
  row: CustomerCredential,
  given: GivenCredential,
): Promise<void> {
  const found = references(unit)
  await check(unit, found, row.id, given, row.expiredTime ?? null)
  found.check()
  if (given.customerId !== row.customerId) {
    throw new ConflictError('The customer of a credential cannot be changed.')
  }
  row.username = given.username
  row.usernameDigest = usernameDigest(given.username)
  const former = endOf(row.expiredTime)
  if (given.expiredTime !== undefined) row.expiredTime = given.expiredTime
  const hash = hashOf(given.password) ?? row.passwordHash
  const isOther = hash !== row.passwordHash
  row.passwordHash = hash
  if (isOther || endOf(row.expiredTime) < former) await endTokensOfCredential(unit, row)
  else if (given.password !== null) await endPasswordTokens(unit, row)
}

async function check(
  unit: UnitOfWork,
  found: References,
  id: string,
  { username, expiredTime, password }: GivenCredential,
  known: Date | null,
): Promise<void> {
  // Until the commit nobody else takes the username.
  await lockOrganization(unit)
  const others = await statement<object>(
    unit.em,
    'find-username',
    'select 1 from customer_credentials where organization_id = ? and username_digest = ? and id <> ?',
    [unit.organizationId, usernameDigest(username), id],
  )
  if (others.length > 0) found.fail('username', 'not-unique', 'is taken by another credential')
  if (password !== null && 'problem' in password) found.fail('password', 'wrong-format', password.problem)
  const isNew = expiredTime != null && expiredTime.getTime() !== known?.getTime()
  if (isNew && expiredTime <= unit.now) found.fail('expiredTime', 'in-the-past', 'must be in the future')
}

function endOf(expiredTime: Date | null | undefined): number {
  return expiredTime?.getTime() ?? Number.POSITIVE_INFINITY
}

function hashOf(password: CheckedPassword | null): string | null {
  return password !== null && 'hash' in password ? password.hash : null
}

async function defaultExpiry({ em, organizationId, now }: UnitOfWork): Promise<Date | null> {
  const { credentialTtl } = await authenticationOptions(em, organizationId)
  return credentialTtl === 0 ? null : new Date(now.getTime() + credentialTtl * 1_000)
}
