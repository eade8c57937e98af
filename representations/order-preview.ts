import type { Priced } from '../billing/discounts.ts'
import type { InvoiceLine } from '../billing/invoices.ts'
import { jsonAmount, Money } from '../billing/money.ts'
import { isCredit, subtotal } from '../billing/proration.ts'
import { taxOf, taxText, taxTotals } from '../billing/taxes.ts'

export function presentOrderPreview(
  currency: string,
  initial: Priced<InvoiceLine>,
  recurring: Priced<InvoiceLine> | null,
) {
  const amounts = amountsOf(initial)
  return {
    currency,
    lineItems: initial.lines.filter(({ type }) => type !== 'shipping').map(presentLine),
    subtotalAmount: amounts.subtotalAmount,
    discounts: initial.discounts.map(({ couponId, amount, description }) => ({
      couponId,
      amount: jsonAmount(amount),
      description,
    })),
    discountsAmount: amounts.discountAmount,
    shippingAmount: amounts.shippingAmount,
    taxAmount: amounts.taxAmount,
    taxes: taxTotals(initial.lines).map((tax) => ({
      amount: jsonAmount(tax.amount),
      description: taxText(tax),
    })),
    total: amounts.amount,
    initialAmounts: amounts,
    recurringAmounts: recurring === null ? null : amountsOf(recurring),
  }
}

function amountsOf({ lines, discounts, amount }: Priced<InvoiceLine>) {
  const isShipping = ({ type }: InvoiceLine) => type === 'shipping'
  return {
    amount: jsonAmount(amount),
    subtotalAmount: jsonAmount(subtotal(lines.filter((line) => !isShipping(line)))),
    discountAmount: jsonAmount(subtotal(discounts)),
    shippingAmount: jsonAmount(subtotal(lines.filter(isShipping))),
    taxAmount: jsonAmount(taxOf(lines)),
  }
}

function presentLine(line: InvoiceLine) {
  const { planId, productId = null, description, quantity, amount } = line
  const shown = (value: string) => jsonAmount(new Money(value).abs().toFixed())
  return {
    type: isCredit(amount) ? ('credit' as const) : ('debit' as const),
    description,
    unitPrice: shown(line.unitPrice ?? amount),
    quantity,
    price: shown(amount),
    ...(planId === null ? {} : { planId }),
    ...(productId === null ? {} : { productId }),
  }
}
