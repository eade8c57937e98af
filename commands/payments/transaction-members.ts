/** What a transaction shows of its invoices, and a refund of its sale. */
import type { Invoice, Transaction } from '../../db/entities/index.ts'

/** Returns what a transaction shows of the orders whose invoices it pays. */
export function aboutInvoices(
  invoices: readonly Pick<Invoice, 'subscriptionId' | 'lines' | 'type' | 'periodNumber'>[],
): Pick<Transaction, 'subscriptionIds' | 'planIds' | 'isRebill' | 'rebillNumber'> {
  const [first] = invoices
  const planIds = invoices.flatMap(({ lines }) => lines.flatMap(({ planId }) => planId ?? []))
  return {
    subscriptionIds: [...new Set(invoices.map(({ subscriptionId }) => subscriptionId))],
    planIds: [...new Set(planIds)],
    isRebill: first?.type === 'renewal',
    rebillNumber: first?.periodNumber ?? null,
  }
}

/** Returns what a refund shows as its sale does. */
export function inheritedBy(sale: Transaction) {
  return {
    websiteId: sale.websiteId ?? null,
    subscriptionIds: sale.subscriptionIds,
    planIds: sale.planIds,
    isRebill: sale.isRebill,
    rebillNumber: sale.rebillNumber ?? null,
    retryNumber: 0,
    billingAddress: sale.billingAddress ?? null,
    riskMetadata: null,
  }
}
