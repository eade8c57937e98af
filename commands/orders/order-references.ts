/** Read in one statement, because placing orders is the most frequent command. */
import type { FieldDefinition } from '../../billing/custom-fields.ts'
import { type Organization, Plan } from '../../db/entities/index.ts'
import { plainRowReader } from '../../db/plain-rows.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { definitionsSql } from '../custom-fields.ts'
import { type Captured, captured } from './order-risk.ts'
import { isTaxed } from './order-taxes.ts'

export interface ForOrder {
  readonly hasCustomer: boolean
  readonly hasDefaultInstrument: boolean
  readonly hasWebsite: boolean
  /** Redeemed for all orders of the customer. */
  readonly hasCoupons: boolean
  readonly plans: readonly Plan[]
  readonly settings: Organization['settings']
  readonly isTaxed: boolean
  /** Of the custom fields of orders. */
  readonly definitions: readonly FieldDefinition[]
  /** Captured with the token of its instrument; null: no instrument. */
  readonly captured: Captured | null
}

/** Holds the rows as `references()` does. */
export async function readForOrder(
  { em, organizationId }: UnitOfWork,
  order: {
    readonly customerId: string
    readonly websiteId: string
    readonly paymentInstrumentId: string | null
    readonly items: readonly { readonly plan: { readonly id?: string } }[]
  },
): Promise<ForOrder> {
  const planIds = JSON.stringify(order.items.flatMap(({ plan }) => plan.id ?? []))
  const [found] = await statement<{
    customer: { hasDefaultInstrument: boolean } | null
    website: boolean
    coupons: boolean
    plans: Record<string, unknown>[]
    settings: ForOrder['settings']
    taxed: boolean
    definitions: FieldDefinition[]
    captured: Captured | null
  }>(
    em,
    'read-for-order',
    `select (select jsonb_build_object('hasDefaultInstrument', default_payment_instrument_id is not null)
                 from customers where organization_id = organization.id and id = ? for key share) as customer,
              coalesce((select true from websites where organization_id = organization.id and id = ? for key share), false) as website,
              exists (select from coupon_redemptions where organization_id = organization.id and customer_id = ?
                         and canceled_time is null and subscription_id is null) as coupons,
              (select coalesce(jsonb_agg(to_jsonb(plan)), '[]') from (
                 select * from plans where organization_id = organization.id
                    and id in (select jsonb_array_elements_text(?::jsonb)) for key share
               ) plan) as plans,
              organization.settings, ${isTaxed('organization')} as taxed, ${definitionsSql} as definitions,
              ${captured} as captured
         from organizations organization where organization.id = ?`,
    [
      order.customerId,
      order.websiteId,
      order.customerId,
      planIds,
      ...[organizationId, 'subscriptions'],
      ...[order.customerId, order.paymentInstrumentId, order.customerId],
      organizationId,
    ],
  )
  if (found === undefined) throw new Error(`the organization ${organizationId} is gone`)
  return {
    hasCustomer: found.customer !== null,
    hasDefaultInstrument: found.customer?.hasDefaultInstrument ?? false,
    hasWebsite: found.website,
    hasCoupons: found.coupons,
    plans: found.plans.map(plainRowReader(em, Plan)),
    settings: found.settings,
    isTaxed: found.taxed,
    definitions: found.definitions,
    captured: found.captured,
  }
}
