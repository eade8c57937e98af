import type { WebhookAuth } from '../db/entities/service-credential.ts'
import type { WebhookMethod } from '../db/entities/webhook.ts'
import type { Vault } from '../db/vault.ts'
import type { ReceiverResponse, Sender } from './sender.ts'
import { signWebhook } from './signature.ts'
import type { SigningKeyPair } from './signing-keys.ts'
import { takesAnySuccessStatus } from './success-rule.ts'
import { USER_AGENT } from './user-agent.ts'
import { maskedHeaders, openHeaders, ownHeaders, type StoredHeaders } from './webhook-headers.ts'

export interface DueDelivery extends StoredHeaders {
  readonly organizationId: string
  readonly id: string
  readonly webhookId: string
  readonly eventId: string
  readonly eventType: string
  readonly payload: string
  readonly url: string
  readonly method: WebhookMethod
  /** A `WebhookAuth`, encrypted; null if there is none or none is active. */
  readonly authCipher: string | null
  readonly entityId: string
  readonly scheduled: number
  /** Resends recorded before. */
  readonly resends: number
  readonly resend: boolean
}

export interface Attempt {
  readonly delivery: DueDelivery
  /** Real time, as is `sentTime`. */
  readonly initiatedTime: Date
  /** Null if no request was sent. */
  readonly sentTime: Date | null
  readonly duration: number
  /** As the log keeps them: with credentials masked. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly response: ReceiverResponse
}

export interface AttemptDependencies {
  readonly sender: Sender
  readonly signingKey: () => Promise<SigningKeyPair>
  readonly vault: Pick<Vault, 'open'>
  readonly baseUrl: string
  /** Real time, in milliseconds. */
  readonly now: () => number
}

/** Makes one attempt. Throws only on failures of our own: the attempt does not count and must be repeated. */
export async function attemptDelivery(
  delivery: DueDelivery,
  dependencies: AttemptDependencies,
): Promise<Attempt> {
  const { sender, signingKey, vault, baseUrl, now } = dependencies
  const key = await signingKey()
  const initiatedTime = new Date(now())
  const { organizationId, eventId, eventType, payload: body, url, method, authCipher } = delivery
  const auth = authCipher === null ? null : (JSON.parse(await vault.open(authCipher)) as WebhookAuth)
  const own = ownHeaders(await openHeaders(delivery, vault), auth)
  const requestHeaders = {
    ...own,
    'Content-Type': 'application/json; charset=utf-8',
    'User-Agent': USER_AGENT,
    'Webhook-Id': eventId,
    'Security-Signature': await signWebhook({ baseUrl, organizationId, body }, key, initiatedTime),
  }
  const started = performance.now()
  const sentTime = new Date(now())
  const response = await sender.send({
    organizationId,
    url,
    method,
    headers: requestHeaders,
    body,
    anySuccessStatus: takesAnySuccessStatus(eventType),
  })
  return {
    delivery,
    initiatedTime,
    sentTime: wasSent(response) ? sentTime : null,
    duration: Math.ceil(performance.now() - started),
    requestHeaders: maskedHeaders(requestHeaders, own),
    response,
  }
}

function wasSent({ failure, status }: ReceiverResponse): boolean {
  switch (failure) {
    case 'dns':
    case 'address-refused':
    case 'connection-refused':
    case 'connection-failed':
    case 'tls':
      return status !== null
    default:
      return true
  }
}
