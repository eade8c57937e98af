/** What an order refers to, read in one statement: placing orders is what the service does most. */
import { type Organization, Plan } from './entities/index.ts'
import { plainRowReader } from './plain-rows.ts'
import { statement } from './statement.ts'
import type { UnitOfWork } from './unit-of-work.ts'

export interface ForOrder {
  readonly hasCustomer: boolean
  readonly hasWebsite: boolean
  /** Those of the items' plans that exist. */
  readonly plans: readonly Plan[]
  readonly settings: Organization['settings']
}

/** Reads what a new order of the unit's organization is made of. */
export async function readForOrder(
  { em, organizationId }: UnitOfWork,
  order: {
    readonly customerId: string
    readonly websiteId: string
    readonly items: readonly { readonly plan: { readonly id: string } }[]
  },
): Promise<ForOrder> {
  const planIds = JSON.stringify(order.items.map(({ plan }) => plan.id))
  const [found] = await statement<{
    customer: boolean
    website: boolean
    plans: Record<string, unknown>[]
    settings: ForOrder['settings']
  }>(
    em,
    `select exists (select from customers where organization_id = organization.id and id = ?) as customer,
              exists (select from websites where organization_id = organization.id and id = ?) as website,
              (select coalesce(jsonb_agg(to_jsonb(plan)), '[]') from plans plan
                where plan.organization_id = organization.id and plan.id in (select jsonb_array_elements_text(?::jsonb))) as plans,
              organization.settings
         from organizations organization where organization.id = ?`,
    [order.customerId, order.websiteId, planIds, organizationId],
  )
  if (found === undefined) throw new Error(`the organization ${organizationId} is gone`)
  return {
    hasCustomer: found.customer,
    hasWebsite: found.website,
    plans: found.plans.map(plainRowReader(em, Plan)),
    settings: found.settings,
  }
}
