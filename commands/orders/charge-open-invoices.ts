import { chargeOpen } from '../../billing/order-payments.ts'
import { Subscription } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { advanceForCommand, scheduleAfter, wakeOrder } from './advance-order.ts'
import { applyTransitions } from './apply-transitions.ts'
import { orderInstant } from './order-instant.ts'

/** Locks the customer's owing orders. It comes before the lock of the customer, as in all commands. */
export async function lockOwingOrders(unit: UnitOfWork, customerId: string): Promise<void> {
  await statement(unit.em, 'lock-owing-orders', OWING, [unit.organizationId, customerId])
}

/**
 * Makes the open invoices of those orders due for a charge, if the customer's default instrument, changed in
 * the database already, charges them. An order that another transaction changes now keeps its own schedule.
 */
export async function chargeOpenInvoices(
  unit: UnitOfWork,
  customerId: string,
  instrumentId: string,
): Promise<void> {
  const { em, organizationId } = unit
  const owing = await statement<{ id: string }>(em, 'lock-free-owing-orders', `${OWING} skip locked`, [
    organizationId,
    customerId,
  ])
  if (owing.length === 0) return
  const ids = owing.map(({ id }) => id)
  const rows = await em.find(
    Subscription,
    { organizationId, id: { $in: ids } },
    { orderBy: { id: 'asc' }, refresh: true },
  )
  for (const row of rows) {
    const instant = orderInstant(unit, row)
    const record = await advanceForCommand(unit, row, instant)
    const { route } = record.charging
    if (route?.paymentInstrumentId !== instrumentId || route.isExpired) continue
    applyTransitions(unit, record, [chargeOpen(record.order, instant)])
    scheduleAfter(record, instant)
    wakeOrder(unit, row)
  }
}

/** A customer's orders that are charged automatically and owe something; binds organization and customer. */
const OWING = `select id from subscriptions owing
  where organization_id = ? and customer_id = ? and autopay
    and exists (select from invoices where organization_id = owing.organization_id
                   and subscription_id = owing.id and status in ('unpaid', 'past-due', 'partially-paid'))
  order by id for update`
