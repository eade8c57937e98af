import { advanceDueInvoice } from '../commands/invoices/advance-own-invoice.ts'
import { Invoice } from '../db/entities/index.ts'
import { lockRow } from '../db/lock-row.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { type AdvanceInput, type AdvanceResult, searchAttributesOf } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { instantOf } from './instant.ts'

/** Applies what is due on an own invoice: it passes its due time, or is charged. Idempotent. */
export async function advanceInvoice(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult> {
  const { em, baseUrl, now, visibility } = dependencies
  const { organizationId, recordId } = input
  const instant = instantOf(dependencies, input)
  const base = input.base ?? 0
  return await inUnitOfWork(em(), { organizationId, baseUrl, now: new Date(now()) }, async (unit) => {
    const invoice = await lockRow(unit, Invoice, recordId)
    // The invoice of an order is advanced with its order.
    if (invoice === null || invoice.subscriptionId != null) return { next: null, base, visibility: null }
    const next = await advanceDueInvoice(unit, invoice, instant)
    const time = next === null ? null : new Date(next).toISOString()
    const { id, status, customerId } = invoice
    return {
      next,
      base,
      visibility:
        visibility && time !== null
          ? {
              details: `Invoice **${id}** is **${status}**.`,
              timer: `next due at ${time}`,
              attributes: searchAttributesOf({ organizationId, customerId, status, nextDeadline: time }),
            }
          : null,
    }
  })
}
