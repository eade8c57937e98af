import { canonicalJson } from '../../billing/canonical-json.ts'
import { ConflictError } from '../../billing/errors.ts'
import { ServiceCredential, Webhook, Website } from '../../db/entities/index.ts'
import type { WebhookHeader, WebhookMethod } from '../../db/entities/webhook.ts'
import { lockOrganization } from '../../db/organization-lock.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Vault } from '../../db/vault.ts'
import { openHeaders, sealHeaders } from '../../delivery/webhook-headers.ts'
import { references } from '../references.ts'
import { cancelDeliveries, cancelFormer } from './cancel-deliveries.ts'

/** Active webhooks per organization (specification 6.1). */
const MAX_ACTIVE = 25

export interface WebhookValues {
  readonly url: string
  readonly method: WebhookMethod
  readonly eventsFilter: string[]
  readonly status: 'active' | 'inactive'
  readonly websiteId: string | null
  readonly credentialHash: string | null
  readonly headers: WebhookHeader[]
}

/** @throws InvalidFieldsError, or ConflictError when 25 webhooks are active. */
export async function createWebhook(
  unit: UnitOfWork,
  vault: Vault,
  id: string,
  values: WebhookValues,
): Promise<Webhook> {
  await requireUsable(unit, null, values)
  const webhook = unit.create(Webhook, {
    id,
    ...values,
    ...(await sealHeaders(values.headers, vault)),
    consecutiveFailures: 0,
  })
  await cancelFormer(unit, webhook)
  return webhook
}

/** Waiting deliveries go to the new URL; an inactive webhook cancels them. Throws as `createWebhook`. */
export async function updateWebhook(
  unit: UnitOfWork,
  vault: Vault,
  webhook: Webhook,
  values: WebhookValues,
): Promise<void> {
  await requireUsable(unit, webhook, values)
  const { status } = webhook
  const { headers, ...others } = values
  Object.assign(webhook, others)
  // Equal values would be another ciphertext, and so another revision.
  if (canonicalJson(await openHeaders(webhook, vault)) !== canonicalJson(headers)) {
    Object.assign(webhook, await sealHeaders(headers, vault))
  }
  if (status === values.status) return
  Object.assign(webhook, { deactivationReason: null, consecutiveFailures: 0, firstFailureTime: null })
  if (values.status === 'inactive') await cancelDeliveries(unit, webhook)
}

async function requireUsable(unit: UnitOfWork, stored: Webhook | null, values: WebhookValues): Promise<void> {
  await requireReferences(unit, stored, values)
  if (values.status === 'active' && stored?.status !== 'active') await requireRoom(unit)
}

/** Returns the credential. Throws InvalidFieldsError naming a reference that does not exist or match. */
export async function requireReferences(
  unit: Pick<UnitOfWork, 'em' | 'organizationId'>,
  stored: Webhook | null,
  values: WebhookValues,
): Promise<ServiceCredential | null> {
  const found = references(unit)
  await found.optional(Website, 'websiteId', values.websiteId)
  const credential = await found.optional(ServiceCredential, 'credentialHash', values.credentialHash)
  if (credential !== null) {
    if (credential.host.toLowerCase() !== new URL(values.url).hostname.toLowerCase()) {
      found.fail(
        'credentialHash',
        'mismatch',
        `must be the hash of a service credential for the host of the URL, not for ${credential.host}`,
      )
    }
    if (credential.status !== 'active' && stored?.credentialHash !== credential.id) {
      found.fail('credentialHash', 'inactive', 'must be the hash of an active service credential')
    }
  }
  found.check()
  return credential
}

async function requireRoom(unit: UnitOfWork): Promise<void> {
  await lockOrganization(unit)
  const active = await unit.em.count(Webhook, { organizationId: unit.organizationId, status: 'active' })
  if (active >= MAX_ACTIVE) {
    throw new ConflictError(`The organization has reached its limit of ${MAX_ACTIVE} active webhooks.`)
  }
}
