import { creditedAmount } from '../../billing/credit-memos.ts'
import { sumOf } from '../../billing/money.ts'
import { taxTotals } from '../../billing/taxes.ts'
import { type Invoice, Organization } from '../../db/entities/index.ts'
import { type DocumentLine, type InvoiceDocument, invoicePdf } from '../../documents/invoice-document.ts'
import { readLogo } from '../../documents/logo.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { readOne, readRow } from '../resources/read.ts'
import type { Resource } from '../resources/resource.ts'
import { refusedWithoutTurn, takingTurns } from '../turns.ts'

/** JSON, or a PDF document for a caller that prefers one. */
export async function getInvoice(
  context: OperationContext,
  resource: Resource<Invoice>,
): Promise<OperationResponse> {
  if (!context.prefers('application/pdf')) {
    const response = await readOne(context, resource)
    return { ...response, headers: { ...response.headers, Vary: 'Accept' } }
  }
  return await refusedWithoutTurn(
    'Too many documents of this organization are being made.',
    context.now(),
    () => inTurn(context, () => documentResponse(context, resource)),
  )
}

/** Of all requests of this process. A document is made of many short pieces of work, one document at a time: it holds up documents alone. */
const inTurn = takingTurns({ atOnce: 1, mostWaiting: 20 })

async function documentResponse(
  context: OperationContext,
  resource: Resource<Invoice>,
): Promise<OperationResponse> {
  const invoice = await readRow(context, resource)
  const organization = await context.em.findOneOrFail(Organization, { id: context.organizationId })
  const name = invoice.invoiceNumber == null ? invoice.id : String(invoice.invoiceNumber)
  return {
    body: await invoicePdf(documentOf(invoice, organization)),
    headers: {
      'Content-Type': 'application/pdf',
      'Content-Disposition': `inline; filename="invoice-${name}.pdf"`,
      Vary: 'Accept',
    },
  }
}

/** The logo is today's, and so are the parties of a draft. */
function documentOf(invoice: Invoice, organization: Organization): InvoiceDocument {
  const logo = organization.logo == null ? null : readLogo(organization.logo)
  return {
    id: invoice.id,
    number: invoice.invoiceNumber ?? null,
    status: invoice.status,
    currency: invoice.currency,
    issuer: invoice.issuer ?? {
      name: organization.name,
      website: organization.website ?? null,
      taxDescriptor: organization.taxDescriptor ?? null,
      timeZone: organization.invoiceTimeZone,
      address: organization.address ?? null,
      address2: organization.address2 ?? null,
      city: organization.city ?? null,
      region: organization.region ?? null,
      country: organization.country ?? null,
      postalCode: organization.postalCode ?? null,
      phoneNumbers: organization.phoneNumbers,
      emails: organization.emails,
    },
    logo: logo === null || 'problem' in logo ? null : logo,
    billTo: invoice.billingAddress ?? null,
    deliverTo: invoice.deliveryAddress ?? null,
    organizationTaxId: invoice.organizationTaxIdNumber ?? null,
    customerTaxId: invoice.customerTaxIdNumber ?? null,
    issuedTime: invoice.issuedTime ?? null,
    dueTime: invoice.dueTime ?? null,
    paidTime: invoice.paidTime ?? null,
    voidedTime: invoice.voidedTime ?? null,
    poNumber: invoice.poNumber ?? null,
    notes: invoice.notes ?? null,
    lines: invoice.lines.map((line) => lineOf(line, invoice)),
    discounts: invoice.discounts.map(({ description, amount }) => ({ description, amount })),
    taxes: taxTotals(invoice.lines),
    amount: invoice.amount,
    amountPaid: invoice.amountPaid,
    amountCredited: creditedAmount(invoice.credits),
    amountRefunded: invoice.amountRefunded,
    amountDue: invoice.amountDue,
  }
}

function lineOf(
  line: Invoice['lines'][number],
  { periodStart, periodEnd }: Pick<Invoice, 'periodStart' | 'periodEnd'>,
): DocumentLine {
  const isForPeriod = line.type === 'plan' || line.type === 'trial'
  return {
    description: line.description,
    // A line without a unit price is of an earlier release: its amount stands for all units.
    quantity: line.unitPrice === undefined ? 1 : line.quantity,
    unitPrice: line.unitPrice ?? line.amount,
    amount: line.amount,
    period:
      periodOf(line) ??
      (isForPeriod && periodStart != null ? { start: periodStart, end: periodEnd ?? null } : null),
    taxRate: line.taxes === undefined ? null : sumOf(line.taxes.map(({ rate }) => rate)),
  }
}

function periodOf({ type, periodStart, periodEnd }: Invoice['lines'][number]): DocumentLine['period'] {
  if (periodStart === undefined || (type !== 'item' && periodEnd === undefined)) return null
  return { start: new Date(periodStart), end: periodEnd === undefined ? null : new Date(periodEnd) }
}
