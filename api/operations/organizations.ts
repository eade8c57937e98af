/** The organization of the path: its name and the settings of its orders. */
import { billingSettings } from '../../billing/billing-settings.ts'
import { Organization as OrganizationRow } from '../../db/entities/index.ts'
import { lockOrganization } from '../../db/organization-lock.ts'
import { presentOrganization } from '../../representations/organization.ts'
import { isNotModified, requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { changeRow } from '../resources/change-row.ts'
import type { Organization } from '../schemas/organization.ts'

export async function getOrganization(context: OperationContext): Promise<OperationResponse> {
  const { em, organizationId, preconditions, baseUrl } = context
  const row = await em.findOneOrFail(OrganizationRow, { id: organizationId })
  if (isNotModified(preconditions, row.revision)) return { status: 304, revision: row.revision }
  return { body: presentOrganization(row, baseUrl), revision: row.revision }
}

/** PUT: a missing setting returns to its default. */
export async function putOrganization(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const row = await lockOrganization(unit)
    requirePreconditions(context.preconditions, row.revision)
    const { name, settings } = context.body<Organization>()
    await changeRow(unit, row, () => {
      row.name = name
      row.settings = { billing: billingSettings(settings?.billing) }
    })
    return { body: presentOrganization(row, context.baseUrl), revision: row.revision }
  })
}
