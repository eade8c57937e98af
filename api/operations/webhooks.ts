import { InvalidFieldsError } from '../../billing/errors.ts'
import { recoverWebhook } from '../../commands/webhooks/recover-webhook.ts'
import {
  createWebhook,
  requireReferences,
  updateWebhook,
  type WebhookValues,
} from '../../commands/webhooks/save-webhook.ts'
import { Webhook as WebhookRow } from '../../db/entities/index.ts'
import { webhookSearch } from '../../db/entities/webhook.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { sampleEvent } from '../../delivery/sample-event.ts'
import { openHeaders, webhookHeaderProblems } from '../../delivery/webhook-headers.ts'
import { webhookUrlProblem } from '../../delivery/webhook-url.ts'
import { presentWebhook } from '../../representations/webhook.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import { remove } from '../resources/delete.ts'
import { notFound, type Resource, type Writer } from '../resources/resource.ts'
import { Webhook } from '../schemas/webhook.ts'
import type { WebhookRecovery } from '../schemas/webhook-recovery.ts'

export const webhooks: Resource<WebhookRow> = {
  name: 'Webhook',
  label: 'webhook',
  path: 'webhooks',
  schema: Webhook,
  entity: WebhookRow,
  table: 'webhooks',
  search: webhookSearch,
  fields: fieldsOf(Webhook),
  present: async (row, { baseUrl, keys }) => presentWebhook(row, await openHeaders(row, keys.vault), baseUrl),
}

export const webhookWriter: Writer<WebhookRow, Webhook> = {
  create(unit, id, body, context) {
    requireSendable(body, null, context)
    return createWebhook(unit, context.keys.vault, id, valuesOf(body))
  },
  update(unit, row, body, context) {
    requireSendable(body, row, context)
    return updateWebhook(unit, context.keys.vault, row, valuesOf(body))
  },
}

/** Waiting deliveries are canceled (`delivery/cancel-unsendable.ts`). */
export async function deleteWebhook(context: OperationContext): Promise<OperationResponse> {
  return await remove(context, webhooks)
}

function requireSendable(
  body: Webhook,
  stored: WebhookRow | null,
  { webhookTargets }: OperationContext,
): void {
  const failures = webhookHeaderProblems(body.headers ?? [], body.credentialHash != null)
  // An unchanged URL was checked before; the allowed networks may have changed since.
  const problem = body.url === stored?.url ? null : webhookUrlProblem(body.url, webhookTargets)
  if (problem !== null) failures.push({ field: 'url', ...problem })
  if (failures.length > 0) throw new InvalidFieldsError(failures)
}

function valuesOf(body: Webhook): WebhookValues {
  return {
    url: body.url,
    method: body.method ?? 'POST',
    eventsFilter: body.eventsFilter ?? [],
    status: body.status ?? 'active',
    websiteId: body.websiteId ?? null,
    credentialHash: body.credentialHash ?? null,
    headers: (body.headers ?? []).map(({ name, value, status }) => ({
      name,
      value,
      status: status ?? 'active',
    })),
  }
}

/** Resends what failed since an instant, for a receiver that was away. */
export async function postRecovery(context: OperationContext): Promise<OperationResponse> {
  const { em, organizationId, baseUrl } = context
  const id = context.params.id ?? ''
  if ((await em.count(WebhookRow, { organizationId, id })) === 0) throw notFound(webhooks, id)
  const { since } = context.body<WebhookRecovery>()
  const instant = new Date(since)
  if (instant > context.now()) {
    throw new InvalidFieldsError([
      { field: 'since', code: 'out-of-range', message: 'must not be in the future' },
    ])
  }
  const deliveries = await recoverWebhook(
    (work) => inUnitOfWork(em.fork(), { organizationId, baseUrl, now: context.now() }, work),
    id,
    instant,
  )
  if (deliveries === null) throw notFound(webhooks, id)
  return { body: { since: instant.toISOString(), deliveries } }
}

/** Sends one signed sample to the receiver of a webhook that need not exist. */
export async function previewWebhook(context: OperationContext): Promise<OperationResponse> {
  const { organizationId, now, sendWebhook } = context
  const body = context.body<Webhook>()
  requireSendable(body, null, context)
  const values = valuesOf(body)
  const credential = await requireReferences(context, null, values)
  const eventType = values.eventsFilter[0] ?? 'subscription-created'
  const { response } = await sendWebhook({
    organizationId,
    id: 'preview',
    webhookId: 'preview',
    ...sampleEvent(eventType, now()),
    eventType,
    url: values.url,
    method: values.method,
    headers: values.headers,
    authCipher: credential?.authCipher ?? null,
    scheduled: 0,
    resends: 0,
    resend: false,
  })
  if (response.failure !== null) {
    const status = response.status === null ? '' : `, status ${response.status}`
    throw new InvalidFieldsError([
      {
        field: 'url',
        code: 'not-delivered',
        message: `did not accept the sample: ${response.failure}${status}`,
      },
    ])
  }
  return {}
}
