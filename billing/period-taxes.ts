import { netAmount } from './discounts.ts'
import type { Invoice, InvoiceLine } from './invoices.ts'
import type { Order } from './order.ts'
import { isCredit } from './proration.ts'
import { lineTaxes, taxed, taxesAt } from './taxes.ts'

/**
 * Returns net prices of a period with their taxes: those that its invoice charges for them, or else those of the rates
 * by which the item was billed last. What was not billed yet has the rates of now.
 */
export function withPeriodTaxes(
  prices: readonly InvoiceLine[],
  { terms, queue, invoices }: Pick<Order, 'terms' | 'queue' | 'invoices'>,
  billed: Invoice | null,
  at: number,
): InvoiceLine[] {
  const latestFirst =
    billed === null ? [] : [...queue, ...invoices.flatMap(({ lines }) => lines).toReversed()]
  return prices.flatMap((price) => {
    const { taxes: _, ...plain } = price
    const charged = billed?.lines.find((line) => isSame(line, price))
    if (charged !== undefined) {
      return [charged.taxes === undefined ? plain : { ...plain, taxes: charged.taxes }]
    }
    const last = latestFirst.find((line) => isOfItem(line, price) && !isCredit(line.amount))
    const rates = last === undefined ? taxesAt(terms.taxes, at) : lineTaxes(last)
    return taxed([plain], [plain.amount], rates, terms.currency)
  })
}

function isOfItem(line: InvoiceLine, { itemId, planId }: InvoiceLine): boolean {
  return line.itemId === itemId && line.planId === planId && SERVICE.has(line.type)
}

function isSame(line: InvoiceLine, price: InvoiceLine): boolean {
  return (
    isOfItem(line, price) &&
    line.type === price.type &&
    line.description === price.description &&
    netAmount(line) === price.amount
  )
}

const SERVICE: ReadonlySet<InvoiceLine['type']> = new Set(['plan', 'trial', 'proration'])
