import { receiveNotification } from '../../commands/payments/receive-notification.ts'
import { NotificationRefusedError } from '../../gateways/port.ts'
import type { OperationResponse, SignedContext } from '../operation.ts'
import { notFound } from '../resources/resource.ts'
import { gatewayAccounts } from './gateway-accounts.ts'

/** Stores a notification once; a worker processes it. A sender without the `webhookSecret` writes nothing. */
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
