import type { InvoiceLine } from '../billing/invoices.ts'
import { jsonAmount, Money } from '../billing/money.ts'
import { isCredit } from '../billing/proration.ts'

/** The unit price is not negative: the type says whether the line is a credit. */
export function presentQueuedLine(line: InvoiceLine, currency: string) {
  const unitPrice = new Money(line.unitPrice ?? line.amount).abs().toFixed()
  return {
    type: isCredit(line.amount) ? ('credit' as const) : ('debit' as const),
    description: line.description,
    unitPriceAmount: jsonAmount(unitPrice),
    unitPriceCurrency: currency,
    quantity: line.quantity,
    periodStartTime: time(line.periodStart),
    periodEndTime: time(line.periodEnd),
  }
}

function time(instant: number | undefined): string | null {
  return instant === undefined ? null : new Date(instant).toISOString()
}
