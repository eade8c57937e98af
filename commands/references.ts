/**
 * A referring transaction locks the row with `for key share`; a deletion locks it exclusively and then checks
 * for references. So one of the two waits, and finds what the other did.
 */
import type { EntityClass } from '@mikro-orm/core'
import { ConflictError, type FieldCode, type InvalidField, InvalidFieldsError } from '../billing/errors.ts'
import { plainRowReader } from '../db/plain-rows.ts'
import { statement } from '../db/statement.ts'
import type { UnitOfWork } from '../db/unit-of-work.ts'

interface TenantRow {
  organizationId: string
  id: string
}

export interface References {
  /** Returns the row, held until the transaction ends; else records a failure of `field` and returns null. */
  required<T extends TenantRow>(entity: EntityClass<T>, field: string, id: string): Promise<T | null>
  optional<T extends TenantRow>(entity: EntityClass<T>, field: string, id: string | null): Promise<T | null>
  missing<T extends TenantRow>(entity: EntityClass<T>, field: string): void
  /** As `missing`, for what the caller cannot go on without. @throws InvalidFieldsError with all failures. */
  refuseMissing<T extends TenantRow>(entity: EntityClass<T>, field: string): never
  fail(field: string, code: FieldCode, message: string): void
  /** @throws InvalidFieldsError when anything failed. */
  check(): void
}

export function references({ em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>): References {
  const failures: InvalidField[] = []
  const missing = (entity: { readonly name: string }, field: string): void => {
    const kind = entity.name.replaceAll(/(?<=.)(?=[A-Z])/g, ' ').toLowerCase()
    failures.push({ field, code: 'not-found', message: `must be the id of an existing ${kind}` })
  }
  const required = async <T extends TenantRow>(
    entity: EntityClass<T>,
    field: string,
    id: string,
  ): Promise<T | null> => {
    const row = await heldRow({ em, organizationId }, entity, id)
    if (row === null) missing(entity, field)
    return row
  }
  return {
    required,
    missing,
    refuseMissing(entity, field) {
      missing(entity, field)
      throw new InvalidFieldsError(failures)
    },
    optional: async (entity, field, id) => (id === null ? null : await required(entity, field, id)),
    fail: (field, code, message) => void failures.push({ field, code, message }),
    check() {
      if (failures.length > 0) throw new InvalidFieldsError(failures)
    },
  }
}

/** Returns those of some rows that exist, held until the transaction ends. */
export async function heldIds(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  table: 'gateway_accounts',
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await statement<{ id: string }>(
    em,
    `hold-ids-of-${table}`,
    `select id from ${table} where organization_id = ? and id in (select jsonb_array_elements_text(?::jsonb))
      for key share`,
    [organizationId, JSON.stringify(ids)],
  )
  return new Set(rows.map(({ id }) => id))
}

async function heldRow<T extends TenantRow>(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  entity: EntityClass<T>,
  id: string,
): Promise<T | null> {
  const { tableName } = em.getMetadata().get(entity as EntityClass<TenantRow>)
  const [row] = await statement<Record<string, unknown>>(
    em,
    `hold-${tableName}`,
    `select * from ${tableName} where organization_id = ? and id = ? for key share`,
    [organizationId, id],
  )
  return row === undefined ? null : plainRowReader(em, entity)(row)
}

/**
 * An own invoice that is not issued yet: it is priced and taxed again until then, and what it shows can be sent back. An
 * issued one keeps its amounts. An index finds those of no order.
 */
function draftWith(member: 'planId' | 'productId'): string {
  return `subscription_id is null and status = 'draft'
    and lines @> jsonb_build_array(jsonb_build_object('${member}', ?::text))`
}

/** What refers to a table's rows: the name in the error message, and the condition, with `?` for the id. */
const REFERRERS = {
  websites: [
    { label: 'a customer', table: 'customers', condition: 'website_id = ?' },
    { label: 'a subscription', table: 'subscriptions', condition: 'website_id = ?' },
    { label: 'an invoice', table: 'invoices', condition: 'website_id = ?' },
    { label: 'a transaction', table: 'transactions', condition: 'website_id = ?' },
    { label: 'a webhook', table: 'webhooks', condition: 'website_id = ?' },
  ],
  customers: [
    { label: 'a subscription', table: 'subscriptions', condition: 'customer_id = ?' },
    { label: 'an invoice', table: 'invoices', condition: 'customer_id = ?' },
    { label: 'a transaction', table: 'transactions', condition: 'customer_id = ?' },
    { label: 'a payment instrument', table: 'payment_instruments', condition: 'customer_id = ?' },
    { label: 'a credit memo', table: 'credit_memos', condition: 'customer_id = ?' },
    { label: 'a coupon redemption', table: 'coupon_redemptions', condition: 'customer_id = ?' },
  ],
  coupons: [{ label: 'a coupon redemption', table: 'coupon_redemptions', condition: 'coupon_id = ?' }],
  plans: [
    {
      label: 'a subscription',
      table: 'subscriptions',
      condition: `items @> jsonb_build_array(jsonb_build_object('plan', jsonb_build_object('id', ?::text)))`,
    },
    { label: 'an invoice', table: 'invoices', condition: draftWith('planId') },
  ],
  gateway_accounts: [
    {
      label: 'a payment instrument',
      table: 'payment_instruments',
      condition: `exists (select from (select 'account/' || ?::text || '/' as prefix) account
        where starts_with(gateway_reference, prefix)
           or exists (select from jsonb_array_elements_text(backup_references) held where starts_with(held, prefix)))`,
    },
    {
      label: 'a transaction',
      table: 'transactions',
      condition: `starts_with(gateway_reference, 'account/' || ?::text || '/')`,
    },
    // A charge without a result names the account that it was sent to at first.
    { label: 'a transaction', table: 'gateway_routes', condition: 'gateway_account_id = ?' },
  ],
  products: [
    { label: 'a plan', table: 'plans', condition: 'product_id = ?' },
    {
      // An order keeps the product that its plan had, and may bill at the end of a period what it does not sell any more.
      label: 'a subscription',
      table: 'subscriptions',
      condition: `exists (select from (select jsonb_build_object('productId', ?::text) as named) product
        where items @> jsonb_build_array(jsonb_build_object('priced', named))
           or queued_lines @> jsonb_build_array(named)
           or changed_period -> 'used' @> jsonb_build_array(named))`,
    },
    { label: 'an invoice', table: 'invoices', condition: draftWith('productId') },
  ],
} as const

/** @throws ConflictError naming what refers to the locked row. */
export async function requireUnreferenced(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  table: keyof typeof REFERRERS,
  id: string,
): Promise<void> {
  for (const referrer of REFERRERS[table]) {
    const found = await statement(
      em,
      `find-${referrer.table}-of-${table}`,
      `select 1 from ${referrer.table} where organization_id = ? and ${referrer.condition} limit 1`,
      [organizationId, id],
    )
    if (found.length > 0)
      throw new ConflictError(`The resource cannot be deleted, because ${referrer.label} refers to it.`)
  }
}
