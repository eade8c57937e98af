import { advanceDueInvoice } from '../commands/invoices/advance-own-invoice.ts'
import { Invoice } from '../db/entities/index.ts'
import { lockRow } from '../db/lock-row.ts'
import type { AdvanceInput, AdvanceResult } from '../workflows/contract.ts'
import { advanceRecord } from './advance-record.ts'
import type { ActivityDependencies } from './dependencies.ts'

/** Applies what is due on an own invoice: it passes its due time, or is charged. Idempotent. */
export async function advanceInvoice(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult> {
  return await advanceRecord(dependencies, input, async (unit, recordId, instant) => {
    const invoice = await lockRow(unit, Invoice, recordId)
    // The invoice of an order is advanced with its order.
    if (invoice === null || invoice.subscriptionId != null) return null
    const next = await advanceDueInvoice(unit, invoice, instant)
    const { id, status, customerId } = invoice
    return {
      next,
      waiting: { details: `Invoice **${id}** is **${status}**.`, timer: 'next due', status, customerId },
    }
  })
}
