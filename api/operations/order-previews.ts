import { amountOf } from '../../billing/money.ts'
import { previewOrder } from '../../commands/orders/preview-order.ts'
import { inDryRun } from '../../db/unit-of-work.ts'
import { presentContact } from '../../representations/contact.ts'
import { presentOrderPreview } from '../../representations/order-preview.ts'
import { presentItem } from '../../representations/subscription.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { contactOf } from '../schemas/contact.ts'
import type { OrderPreview } from '../schemas/order-preview.ts'
import { itemsOf } from './orders.ts'

export async function previewOrderOf(context: OperationContext): Promise<OperationResponse> {
  const { em, organizationId, baseUrl, now } = context
  const body = context.body<OrderPreview>()
  const shipping = body.shipping == null ? null : { amount: amountOf(body.shipping.amount) }
  const order = {
    websiteId: body.websiteId,
    items: itemsOf(body.items),
    shipping,
    couponIds: [...new Set(body.couponIds ?? [])],
    billingAddress: contactOf(body.billingAddress),
  }
  const preview = await inDryRun(em, { organizationId, baseUrl, now: now() }, (unit) =>
    previewOrder(unit, order),
  )
  const { items, currency, initial, recurring } = preview
  return await context.commit(async () => ({
    body: {
      websiteId: body.websiteId,
      items: items.map((item) => presentItem(item, {})),
      billingAddress: presentContact(order.billingAddress),
      deliveryAddress: presentContact(contactOf(body.deliveryAddress)),
      shipping: body.shipping == null ? null : { amount: body.shipping.amount, calculator: 'manual' },
      ...presentOrderPreview(currency, initial, recurring),
    },
  }))
}
