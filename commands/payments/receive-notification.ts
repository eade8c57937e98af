import { NOTIFICATION_CHANNEL } from '../../db/channels.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { GatewayNotification } from '../../gateways/notifications.ts'

/** Stores a notification for a worker; one of no use as ignored. Returns false if it was received before. */
export async function receiveNotification(
  unit: UnitOfWork,
  gatewayAccountId: string,
  { id, type, record, object, occurredTime, rank, content }: GatewayNotification,
): Promise<boolean> {
  const { em, organizationId, now } = unit
  const isUsed = content.kind !== 'other'
  const stored = await statement<object>(
    em,
    'store-notification',
    `insert into gateway_notifications (organization_id, gateway_account_id, id, type, record, object, occurred_time, rank,
            content, status, due_time, processed_time, received_time)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?, case when ? then date_trunc('milliseconds', now()) end, ?, ?)
     on conflict do nothing returning 1`,
    [
      organizationId,
      gatewayAccountId,
      id,
      type,
      record,
      object,
      new Date(occurredTime),
      rank,
      JSON.stringify(content),
      isUsed ? 'received' : 'ignored',
      isUsed,
      isUsed ? null : now,
      now,
    ],
  )
  if (stored.length > 0 && isUsed) unit.nudge(NOTIFICATION_CHANNEL)
  return stored.length > 0
}
