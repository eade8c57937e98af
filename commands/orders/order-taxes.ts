/** Which taxes orders bear: what their organization, customers and products say, and the calculator of the organization. */
import type { Contact } from '../../billing/contacts.ts'
import { ownValue } from '../../billing/own-value.ts'
import { decisiveTaxId, type TaxId } from '../../billing/tax-ids.ts'
import { NO_TAXES, type TaxSettings } from '../../billing/tax-settings.ts'
import type { TaxSchedule } from '../../billing/taxes.ts'
import { taxNumbers } from '../../db/invoice-numbers.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { locationRates } from '../../taxes/location-rates.ts'

export interface TaxedOrder {
  readonly id: string
  readonly customerId: string
  readonly currency: string
  readonly items: readonly { readonly priced: OfProduct }[]
  /** Lines of what it may not sell any more, which an invoice takes later. */
  readonly queuedLines?: readonly OfProduct[]
  readonly changedPeriod?: { readonly used: readonly OfProduct[] } | null | undefined
  readonly billingAddress?: Contact | null | undefined
  readonly deliveryAddress?: Contact | null | undefined
}

/** True if an organization taxes what it sells. SQL; `row` is its row. */
export const isTaxed = (row: string) =>
  `coalesce(jsonb_typeof(${row}.taxes -> 'calculator') = 'object', false)`

interface OfProduct {
  readonly productId?: string | null
}

type Place = Pick<Contact, 'country' | 'region'>

/**
 * Returns the taxes of orders, by order; none where their organization taxes nothing. A sale is taxed where
 * it is delivered, otherwise where it is billed to, otherwise where the customer is.
 */
export async function readTaxes(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  orders: readonly TaxedOrder[],
): Promise<ReadonlyMap<string, TaxSchedule>> {
  if (orders.length === 0) return new Map()
  const [found] = await statement<{
    taxes: TaxSettings
    country: string | null
    region: string | null
    tax_ids: readonly TaxId[] | null
    customers: Readonly<Record<string, Place & { readonly taxIds: readonly TaxId[] | null }>> | null
    categories: Readonly<Record<string, string>> | null
  }>(
    em,
    'read-taxes',
    `select organization.taxes, organization.country, organization.region,
            ${taxNumbers('organization')} as tax_ids,
            (select jsonb_object_agg(customer.id, jsonb_build_object(
                      'country', customer.primary_address ->> 'country', 'region', customer.primary_address ->> 'region',
                      'taxIds', ${taxNumbers('customer')}))
               from customers customer where customer.organization_id = organization.id
                and customer.id in (select jsonb_array_elements_text(?::jsonb))) as customers,
            (select jsonb_object_agg(product.id, product.tax_category_id)
               from products product where product.organization_id = organization.id
                and product.tax_category_id is not null
                and product.id in (select jsonb_array_elements_text(?::jsonb))) as categories
       from organizations organization where organization.id = ? and ${isTaxed('organization')}`,
    [
      JSON.stringify([...new Set(orders.map(({ customerId }) => customerId))]),
      JSON.stringify([...new Set(orders.flatMap(productsOf))]),
      organizationId,
    ],
  )
  const calculator = locationRates(found?.taxes ?? NO_TAXES)
  if (found === undefined || calculator === null) return new Map()
  const seller = { country: found.country, region: found.region, taxId: decisiveTaxId(found.tax_ids) }
  return new Map(
    await Promise.all(
      orders.map(async (order): Promise<[string, TaxSchedule]> => {
        const customer = ownValue(found.customers, order.customerId) ?? NOBODY
        const place = [order.deliveryAddress, order.billingAddress, customer].find(
          (one) => one?.country != null,
        )
        const { country = null, region = null } = place ?? NOBODY
        const products = productsOf(order).map((id) => ({
          id,
          taxCategoryId: ownValue(found.categories, id) ?? null,
        }))
        const request = { currency: order.currency, seller, products }
        return [
          order.id,
          await calculator.taxesOf({
            ...request,
            buyer: { country, region, taxId: decisiveTaxId(customer.taxIds) },
          }),
        ]
      }),
    ),
  )
}

function productsOf({ items, queuedLines = [], changedPeriod }: TaxedOrder): string[] {
  const sold = [...items.map(({ priced }) => priced), ...queuedLines, ...(changedPeriod?.used ?? [])]
  return [...new Set(sold.flatMap(({ productId }) => productId ?? []))]
}

const NOBODY = { country: null, region: null, taxIds: null }
