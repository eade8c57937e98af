import { isUsable } from '../../billing/cards.ts'
import type { Invoice as InvoiceState } from '../../billing/invoices.ts'
import { upcomingInvoice } from '../../billing/order-lifecycle.ts'
import { NO_COUPONS, readCoupons } from '../../commands/coupons/order-coupons.ts'
import { UNCHARGED } from '../../commands/orders/choose-instrument.ts'
import { readTaxes } from '../../commands/orders/order-taxes.ts'
import { orderOf } from '../../commands/orders/rows-to-order.ts'
import {
  Customer,
  Invoice,
  Organization,
  PaymentInstrument,
  type Subscription,
  Website,
} from '../../db/entities/index.ts'
import { presentCustomer } from '../../representations/customer.ts'
import { presentInvoice, presentUpcomingInvoice } from '../../representations/invoice.ts'
import { presentOrganization } from '../../representations/organization.ts'
import { presentPaymentInstrument } from '../../representations/payment-instrument.ts'
import { presentWebsite } from '../../representations/website.ts'
import type { OperationContext } from '../operation.ts'
import { embedding } from '../resources/embedding.ts'
import { alwaysNull, type Expander } from '../resources/resource.ts'

/** Returns the preview of each order's next invoice, by order; null if none follows. */
export async function upcomingOf(
  rows: readonly Subscription[],
  tenant: Pick<OperationContext, 'em' | 'organizationId'>,
): Promise<ReadonlyMap<string, InvoiceState | null>> {
  const coupons = await readCoupons(tenant, rows, [])
  const taxes = await readTaxes(tenant, rows)
  return new Map(
    rows.map((row) => {
      const { redeemed } = coupons.get(row.id) ?? NO_COUPONS
      const charging = { ...UNCHARGED, taxes: taxes.get(row.id) ?? null }
      return [row.id, upcomingInvoice(orderOf(row, { redeemed, charging }))]
    }),
  )
}

const parties = {
  customer: embedding(Customer, (row: { customerId: string }) => row.customerId, presentCustomer),
  leadSource: embedding(
    Customer,
    (row: { customerId: string }) => row.customerId,
    (customer) => customer.leadSource ?? null,
  ),
  website: embedding(Website, (row: { websiteId: string }) => row.websiteId, presentWebsite),
}

const organization: Expander<{ id: string }> = async (rows, { em, organizationId, baseUrl }) => {
  const found = await em.findOneOrFail(Organization, { id: organizationId })
  return new Map(rows.map((row) => [row.id, presentOrganization(found, baseUrl)]))
}

export const invoiceExpanders: Readonly<Record<string, Expander<Invoice>>> = {
  ...parties,
  organization,
  shippingRate: alwaysNull,
}

export const upcomingInvoiceExpanders: Readonly<Record<string, Expander<Subscription>>> = {
  ...parties,
  organization,
}

export const subscriptionExpanders: Readonly<Record<string, Expander<Subscription>>> = {
  ...parties,
  shippingRate: alwaysNull,
  initialInvoice: embedding(Invoice, (row) => row.initialInvoiceId ?? null, presentInvoice),
  recentInvoice: embedding(Invoice, (row) => row.recentInvoiceId ?? null, presentInvoice),
  upcomingInvoice: async (rows, context) => {
    const upcoming = await upcomingOf(rows, context)
    return new Map(
      rows.map((row) => {
        const invoice = upcoming.get(row.id) ?? null
        return [row.id, invoice === null ? null : presentUpcomingInvoice(row, invoice, context.baseUrl)]
      }),
    )
  },
  /** The order's own instrument if it is usable, otherwise the customer's default. */
  paymentInstrument: async (rows, { em, organizationId, baseUrl, now }) => {
    const byId = <T extends { id: string }>(found: readonly T[]) => new Map(found.map((one) => [one.id, one]))
    const customers = byId(
      await em.find(
        Customer,
        { organizationId, id: { $in: rows.map(({ customerId }) => customerId) } },
        { fields: ['id', 'defaultPaymentInstrumentId'] },
      ),
    )
    const defaultOf = (row: Subscription) => customers.get(row.customerId)?.defaultPaymentInstrumentId ?? null
    const ids = rows.flatMap((row) => [row.paymentInstrumentId ?? [], defaultOf(row) ?? []].flat())
    const instruments = byId(await em.find(PaymentInstrument, { organizationId, id: { $in: ids } }))
    return new Map(
      rows.map((row) => {
        const named = instruments.get(row.paymentInstrumentId ?? '')
        const clock = now().getTime() + row.clockOffset
        const isCharged = named !== undefined && isUsable(named, clock)
        const used = isCharged ? named : (instruments.get(defaultOf(row) ?? '') ?? named)
        return [row.id, used === undefined ? null : presentPaymentInstrument(used, baseUrl)]
      }),
    )
  },
}
