/** What `expand` embeds in orders. */
import { isUsable } from '../../billing/cards.ts'
import { upcomingInvoice } from '../../billing/order-lifecycle.ts'
import { orderOf } from '../../commands/orders/rows-to-order.ts'
import { Customer, Invoice, PaymentInstrument, type Subscription, Website } from '../../db/entities/index.ts'
import { presentCustomer } from '../../representations/customer.ts'
import { presentInvoice } from '../../representations/invoice.ts'
import { presentPaymentInstrument } from '../../representations/payment-instrument.ts'
import { presentUpcomingInvoice } from '../../representations/subscription-actions.ts'
import { presentWebsite } from '../../representations/website.ts'
import { embedding } from '../resources/embedding.ts'
import type { Expander } from '../resources/resource.ts'

/** For members that orders never have: null for each. */
const nothing: Expander<Subscription> = async () => new Map()

export const subscriptionExpanders: Readonly<Record<string, Expander<Subscription>>> = {
  customer: embedding(Customer, (row) => row.customerId, presentCustomer),
  leadSource: embedding(
    Customer,
    (row) => row.customerId,
    (customer) => customer.leadSource ?? null,
  ),
  website: embedding(Website, (row) => row.websiteId, presentWebsite),
  shippingRate: nothing,
  initialInvoice: embedding(Invoice, (row) => row.initialInvoiceId ?? null, presentInvoice),
  recentInvoice: embedding(Invoice, (row) => row.recentInvoiceId ?? null, presentInvoice),
  upcomingInvoice: async (rows) =>
    new Map(
      rows.map((row) => {
        const invoice = upcomingInvoice(orderOf(row))
        return [row.id, invoice === null ? null : presentUpcomingInvoice(row, invoice)]
      }),
    ),
  /** The instrument that would be charged now: the order's own if it is usable, otherwise the customer's default. */
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
