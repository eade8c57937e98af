import { receiveNotification } from '../../commands/payments/receive-notification.ts'
import { NotificationRefusedError } from '../../gateways/port.ts'
import type { OperationResponse, SignedContext } from '../operation.ts'
import { notFound } from '../resources/resource.ts'
import { gatewayAccounts } from './gateway-accounts.ts'

/**
 * POST …/notifications: stores what the provider tells, once, and responds. A worker processes it.
 *
 * Nothing is written for a sender that does not know the account's `webhookSecret`.
 */
export async function postNotification(context: SignedContext): Promise<OperationResponse> {
  const { organizationId, params, gateway, notifications, sent } = context
  const account = params.id ?? ''
  const notification = await gateway
    .readNotification(organizationId, account, sent)
    .catch((error: unknown) => {
      if (error instanceof NotificationRefusedError) notifications.inc({ outcome: 'refused' })
      throw error
    })
  if (notification === null) throw notFound(gatewayAccounts, account)
  const isNew = await context.commit((unit) => receiveNotification(unit, account, notification))
  notifications.inc({ outcome: isNew ? 'received' : 'repeated' })
  const { id, type } = notification
  return { body: { id, type, isRepeated: !isNew } }
}
