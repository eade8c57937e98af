import type { EntityManager } from '@mikro-orm/postgresql'
import { patternProblem } from '../../access/password-pattern.ts'
import { InvalidFieldsError } from '../../billing/errors.ts'
import { DEFAULT_OPTIONS } from '../../commands/access/authentication-options.ts'
import { changeRow } from '../../db/change-row.ts'
import { AuthenticationOptions as OptionsRow, Organization } from '../../db/entities/index.ts'
import { lockOrganization } from '../../db/organization-lock.ts'
import { presentAuthenticationOptions } from '../../representations/authentication-options.ts'
import { isNotModified, requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import type { AuthenticationOptions } from '../schemas/authentication-options.ts'

export async function getAuthenticationOptions(context: OperationContext): Promise<OperationResponse> {
  const { em, organizationId, preconditions, baseUrl } = context
  const row =
    (await findOptions(em, organizationId)) ??
    defaultsOf(await em.findOneOrFail(Organization, { id: organizationId }))
  if (isNotModified(preconditions, row.revision)) return { status: 304, revision: row.revision }
  return { body: presentAuthenticationOptions(row, baseUrl), revision: row.revision }
}

export async function putAuthenticationOptions(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const organization = await lockOrganization(unit)
    const row = (await findOptions(unit.em, unit.organizationId)) ?? defaultsOf(organization)
    requirePreconditions(context.preconditions, row.revision)
    const values = valuesOf(context.body<AuthenticationOptions>())
    const changed = await changeRow(unit, row, () => void Object.assign(row, values))
    if (changed) unit.em.persist(row)
    return { body: presentAuthenticationOptions(row, context.baseUrl), revision: row.revision }
  })
}

function valuesOf(body: AuthenticationOptions) {
  const passwordPattern = body.passwordPattern ?? null
  const message = passwordPattern === null ? null : patternProblem(passwordPattern)
  if (message !== null)
    throw new InvalidFieldsError([{ field: 'passwordPattern', code: 'wrong-format', message }])
  return {
    passwordPattern,
    credentialTtl: body.credentialTtl ?? DEFAULT_OPTIONS.credentialTtl,
    authTokenTtl: body.authTokenTtl ?? DEFAULT_OPTIONS.authTokenTtl,
    resetTokenTtl: body.resetTokenTtl ?? DEFAULT_OPTIONS.resetTokenTtl,
  }
}

async function findOptions(em: EntityManager, organizationId: string): Promise<OptionsRow | null> {
  return await em.findOne(OptionsRow, { organizationId })
}

function defaultsOf({ id: organizationId, createdTime }: Organization): OptionsRow {
  const stamps = { revision: 1, createdTime, updatedTime: createdTime }
  return Object.assign(new OptionsRow(), { organizationId, ...DEFAULT_OPTIONS, ...stamps })
}
