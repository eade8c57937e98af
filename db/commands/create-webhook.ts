import { Webhook, Website } from '../entities/index.ts'
import type { WebhookMethod } from '../entities/webhook.ts'
import { references } from '../references.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

export interface NewWebhook {
  readonly url: string
  readonly method: WebhookMethod
  readonly eventsFilter: string[]
  readonly status: 'active' | 'inactive'
  readonly websiteId: string | null
}

/**
 * Registers a subscriber to events.
 *
 * @throws InvalidFieldsError naming `websiteId` when the organization has no such website.
 */
export async function createWebhook(unit: UnitOfWork, id: string, given: NewWebhook): Promise<Webhook> {
  const found = references(unit)
  await found.optional(Website, 'websiteId', given.websiteId)
  found.check()
  const webhook = unit.em.create(Webhook, {
    organizationId: unit.organizationId,
    id,
    ...given,
    revision: 1,
    createdTime: unit.now,
    updatedTime: unit.now,
  })
  unit.em.persist(webhook)
  return webhook
}
