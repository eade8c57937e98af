/** Events as Stripe sends and signs them. */
import Stripe from 'stripe'
import { ulid } from 'ulid'

export interface StripeEvent {
  readonly id: string
  readonly type: string
  /** Unix seconds. */
  readonly created: number
  readonly data: { readonly object: object }
  /** The account, connected to a platform's, that it is about. */
  readonly account?: string
}

export function stripeEvent(type: string, object: object, members: Partial<StripeEvent> = {}): StripeEvent {
  return {
    id: `evt_${ulid()}`,
    type,
    created: Math.floor(Date.now() / 1000),
    data: { object },
    ...members,
  }
}

/** `age` in seconds. */
export function stripeSignature(body: string, secret: string, age = 0): string {
  const timestamp = Math.floor(Date.now() / 1000) - age
  return Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp })
}

export interface Sending {
  readonly secret: string
  /** Seconds since it was signed. */
  readonly age?: number
  /** Replaces the header. */
  readonly signature?: string | null
  /** Replaces the event. */
  readonly body?: string
}

export async function sendEvent(
  url: string,
  event: object,
  { secret, age = 0, signature, body = JSON.stringify(event) }: Sending,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const header = signature === undefined ? stripeSignature(body, secret, age) : signature
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      ...(header === null ? {} : { 'Stripe-Signature': header }),
    },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

export function stripeDispute(paymentIntent: string, members: object = {}): Record<string, unknown> {
  return {
    id: `du_${ulid()}`,
    object: 'dispute',
    amount: 1250,
    currency: 'eur',
    charge: 'ch_of_the_dispute',
    payment_intent: paymentIntent,
    reason: 'fraudulent',
    status: 'needs_response',
    created: 1_790_000_000,
    evidence: { customer_name: 'Grace Hopper', customer_email_address: 'grace@example.com' },
    evidence_details: { due_by: Math.floor(Date.now() / 1000) + 7 * 86_400, has_evidence: false },
    payment_method_details: {
      type: 'card',
      card: { brand: 'visa', case_type: 'chargeback', network_reason_code: '10.4' },
    },
    ...members,
  }
}
