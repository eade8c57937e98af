import { CustomerCredential, PasswordToken } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { endTokensOf } from './use-authentication-token.ts'

/** Ends the password tokens of a locked credential, and its customer's authentication tokens and JWTs. */
export async function endTokensOfCredential(unit: UnitOfWork, row: CustomerCredential): Promise<void> {
  await endPasswordTokens(unit, row)
  await endTokensOf(unit, row.customerId)
}

export async function endPasswordTokens(
  { em, organizationId }: UnitOfWork,
  row: CustomerCredential,
): Promise<void> {
  await em.nativeDelete(PasswordToken, { organizationId, credentialId: row.id })
}

/** Ends the credentials and all tokens of a customer whose row is locked. */
export async function endAccessOf(unit: UnitOfWork, customerId: string): Promise<void> {
  const { em, organizationId } = unit
  // Credentials first: a sign-in holds its credential until its token is written, which then ends below.
  await em.nativeDelete(CustomerCredential, { organizationId, customerId })
  await em.nativeDelete(PasswordToken, { organizationId, customerId })
  await endTokensOf(unit, customerId)
}
