/**
 * Payment methods of a Stripe customer, charged by payment intents, off session or with the customer present.
 * A reference is `<customer>/<payment method>`. Our request id is the idempotency key, and in the metadata, by
 * which `find` recognizes a movement: Stripe forgets idempotency keys after a day and repeats a failure under them,
 * so that a listing, which is consistent, is the only proof that a movement never came.
 */
import { createHash, randomUUID } from 'node:crypto'
import Stripe from 'stripe'
import type { CardBrand } from '../billing/cards.ts'
import { minorUnits } from '../billing/money.ts'
import {
  type CardRefusal,
  type Charge,
  CredentialsRefusedError,
  type DeclineClass,
  type Gateway,
  GatewayFailedError,
  type GatewayResult,
  NotSentError,
  type OfAuthorization,
  type Refund,
} from './port.ts'

type Request = Charge | Refund | OfAuthorization

/** The adapter was written and tested against this version. */
export const STRIPE_API_VERSION = '2026-10-28.endive'

const NAME = 'Stripe'
/** Stripe keeps idempotency keys for at least a day; an hour of it is left for clocks and retries. */
const IDEMPOTENCY_WINDOW = 23 * 3_600_000
/** Milliseconds. */
const TIMEOUT = 30_000
/** How much earlier than our instant Stripe may have written a movement by its own clock. Seconds. */
const CLOCK_MARGIN = 300
const PAGE = 100
const HELD: Pick<Stripe.PaymentIntentCreateParams, 'capture_method' | 'expand'> = {
  capture_method: 'manual',
  // It says until when.
  expand: ['latest_charge'],
}
/** Nobody is there to be sent to another page. */
const WITHOUT_REDIRECT = { enabled: true, allow_redirects: 'never' } as const

class CardRefusedError extends Error {}

export interface StripeOptions {
  readonly secretKey: string
  /** The merchant may send card numbers to Stripe from its server. */
  readonly takesCards: boolean
  /** For the cardholder's statement, besides the account's own text. */
  readonly descriptor?: string | null
  /** Where the bank's page sends customers back to, unless a charge says where. */
  readonly returnUrl: string
  /** A stand-in for Stripe. */
  readonly host?: { readonly protocol: 'http' | 'https'; readonly host: string; readonly port: number } | null
  /** Milliseconds, per call. */
  readonly timeout?: number
}

export interface StripeGateway extends Gateway {
  /** @throws CredentialsRefusedError; GatewayFailedError if Stripe cannot be reached. */
  probe(): Promise<void>
}

export function createStripeGateway(options: StripeOptions): StripeGateway {
  const { secretKey, takesCards, descriptor = null, returnUrl, host, timeout = TIMEOUT } = options
  const stripe = new Stripe(secretKey, {
    apiVersion: STRIPE_API_VERSION,
    // Repetitions are the caller's, under the same request id.
    maxNetworkRetries: 0,
    timeout,
    telemetry: false,
    ...host,
  })
  const keyOf = (kind: string, requestId: string) => ({ idempotencyKey: digest(`${kind}:${requestId}`) })

  const customerFor = async (organizationId: string, requestId: string): Promise<string> => {
    const { id } = await stripe.customers.create(
      { metadata: { organizationId } },
      keyOf('customer', requestId),
    )
    return id
  }

  /** For a charge that the owner may have to approve. */
  const attachFor = async (
    organizationId: string,
    paymentMethod: string,
    requestId: string,
  ): Promise<string> => {
    const customer = await customerFor(organizationId, requestId)
    await stripe.paymentMethods.attach(paymentMethod, { customer }, keyOf('attach', requestId))
    return `${customer}/${paymentMethod}`
  }

  /** For charges while the owner is away. */
  const saveFor = async (
    organizationId: string,
    paymentMethod: string,
    requestId: string,
  ): Promise<string> => {
    const customer = await customerFor(organizationId, requestId)
    const { status } = await stripe.setupIntents.create(
      {
        customer,
        payment_method: paymentMethod,
        automatic_payment_methods: WITHOUT_REDIRECT,
        usage: 'off_session',
        confirm: true,
      },
      keyOf('setup', requestId),
    )
    if (status !== 'succeeded') {
      throw new CardRefusedError(
        'The bank wants the cardholder to approve the card: enter it in the form of the payment provider.',
      )
    }
    return `${customer}/${paymentMethod}`
  }

  const createIntent = async (kind: 'charge' | 'authorize', charge: Charge): Promise<GatewayResult> => {
    const amount = minorUnits(charge.amount, charge.currency)
    if (amount === null) return declined('amount-not-representable', 'amount', null)
    const { customer, paymentMethod } = partsOf(charge.reference)
    return await moving(async () => {
      const intent = await stripe.paymentIntents.create(
        {
          amount,
          currency: charge.currency.toLowerCase(),
          customer,
          payment_method: paymentMethod,
          confirm: true,
          ...(charge.customer === null
            ? {
                automatic_payment_methods: WITHOUT_REDIRECT,
                off_session: true,
                error_on_requires_action: true,
              }
            : { payment_method_types: ['card'], return_url: charge.customer.returnUrl ?? returnUrl }),
          metadata: metadataOf(charge),
          ...(kind === 'authorize' ? HELD : {}),
          ...(descriptor === null ? {} : { statement_descriptor_suffix: descriptor }),
        },
        keyOf(kind, requestIdOf(charge)),
      )
      return resultOfIntent(intent)
    })
  }

  return {
    name: NAME,
    takesCards: async () => takesCards,
    idempotencyWindow: IDEMPOTENCY_WINDOW,

    async store(
      organizationId,
      { pan, cvv, expMonth, expYear },
      requestId,
      { isForPresentCustomer = false } = {},
    ) {
      if (!takesCards) return { refusal: 'Enter the card in the form of the payment provider.' }
      return await storing(async () => {
        const { id } = await stripe.paymentMethods.create(
          {
            type: 'card',
            card: {
              number: pan,
              exp_month: expMonth,
              exp_year: expYear,
              ...(cvv === null ? {} : { cvc: cvv }),
            },
          },
          keyOf('card', `${organizationId}/${requestId}`),
        )
        const save = isForPresentCustomer ? attachFor : saveFor
        return {
          reference: await save(organizationId, id, `${organizationId}/${requestId}`),
          gatewayName: NAME,
        }
      })
    },

    async adopt(organizationId, paymentMethod) {
      return await storing(async () => {
        const { card, customer } = await stripe.paymentMethods.retrieve(paymentMethod)
        if (card === undefined) throw new CardRefusedError('The payment method is not a card.')
        const reference =
          customer === null
            ? await saveFor(organizationId, paymentMethod, `${organizationId}/${paymentMethod}`)
            : `${typeof customer === 'string' ? customer : customer.id}/${paymentMethod}`
        const brand = BRANDS[card.brand]
        if (brand === undefined) throw new CardRefusedError('Cards of this brand are not taken.')
        const { last4, exp_month: expMonth, exp_year: expYear, fingerprint } = card
        return {
          reference,
          gatewayName: NAME,
          last4,
          brand,
          expMonth,
          expYear,
          fingerprint: fingerprint ?? paymentMethod,
        }
      }, 'The provider does not store this card.')
    },

    async renew(_, reference, { expMonth, expYear }) {
      const renewed = await storing(async () => {
        const card = { exp_month: expMonth, exp_year: expYear }
        const { paymentMethod } = partsOf(reference)
        try {
          await stripe.paymentMethods.update(paymentMethod, { card }, keyOf('renew', randomUUID()))
        } catch (error) {
          if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error
          throw new CardRefusedError('The provider does not change this card.')
        }
        return {}
      })
      return 'refusal' in renewed ? renewed : null
    },

    charge: (charge) => createIntent('charge', charge),
    authorize: (charge) => createIntent('authorize', charge),

    async capture(capture) {
      const { requestId } = capture
      const amount = minorUnits(capture.amount, capture.currency)
      if (amount === null) return declined('amount-not-representable', 'amount', null)
      return await moving(async () => {
        const id = await authorizationOf(stripe, capture)
        if (id === null) return declined('no-such-authorization', 'hard', null)
        const captured = await stripe.paymentIntents.capture(
          id,
          { amount_to_capture: amount, metadata: { captureRequestId: requestId } },
          keyOf('capture', requestIdOf(capture)),
        )
        return captureIn(captured, requestId) ?? declined('not-captured', 'soft', id)
      })
    },

    async void(release) {
      return await moving(async () => {
        const id = await authorizationOf(stripe, release)
        if (id === null) return declined('no-such-authorization', 'hard', null)
        try {
          const canceled = await stripe.paymentIntents.cancel(id, {}, keyOf('void', requestIdOf(release)))
          return releaseOf(canceled) ?? declined('not-released', 'soft', id)
        } catch (error) {
          // It has ended by itself, or by a capture.
          if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error
          const ended = releaseOf(await stripe.paymentIntents.retrieve(id))
          if (ended === null) throw error
          return ended
        }
      })
    },

    async abandon(charge, since) {
      const waiting = await findIntent(stripe, charge, charge.requestId, since)
      if (waiting === null) return null
      try {
        const ended = await stripe.paymentIntents.cancel(
          waiting.id,
          { cancellation_reason: 'abandoned' },
          keyOf('abandon', randomUUID()),
        )
        return resultOfIntent(ended)
      } catch (error) {
        // The customer or the bank was faster.
        if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error
        return resultOfIntent(await stripe.paymentIntents.retrieve(waiting.id))
      }
    },

    async refund(refund) {
      const amount = minorUnits(refund.amount, refund.currency)
      if (amount === null) return declined('amount-not-representable', 'amount', null)
      return await moving(async () => {
        const charged = refund.chargeId ?? (await findIntent(stripe, refund, refund.chargeRequestId, 0))?.id
        if (charged === undefined) return declined('no-such-charge', 'hard', null)
        const made = await stripe.refunds.create(
          { payment_intent: charged, amount, metadata: metadataOf(refund) },
          keyOf('refund', requestIdOf(refund)),
        )
        return resultOfRefund(made)
      })
    },

    async find(movement, since) {
      if ('charge' in movement) {
        const { charge } = movement
        const intent = await findIntent(stripe, charge, charge.requestId, since)
        return intent === null ? null : resultOfIntent(intent)
      }
      if (movement.kind === 'capture' || movement.kind === 'void') {
        const request = movement.kind === 'capture' ? movement.capture : movement.release
        const id = await authorizationOf(stripe, request)
        if (id === null) return null
        const intent = await stripe.paymentIntents.retrieve(id)
        return movement.kind === 'capture' ? captureIn(intent, request.requestId) : releaseOf(intent)
      }
      const { refund } = movement
      const charged = refund.chargeId ?? (await findIntent(stripe, refund, refund.chargeRequestId, 0))?.id
      if (charged === undefined) return null
      for await (const made of stripe.refunds.list({ payment_intent: charged, limit: PAGE })) {
        if (isOf(made, refund, refund.requestId)) return resultOfRefund(made)
      }
      return null
    },

    async probe() {
      try {
        await stripe.balance.retrieve()
      } catch (error) {
        if (error instanceof Stripe.errors.StripeAuthenticationError) {
          throw new CredentialsRefusedError('is not known to Stripe')
        }
        if (error instanceof Stripe.errors.StripePermissionError) {
          throw new CredentialsRefusedError('does not permit what this service needs')
        }
        throw new GatewayFailedError('Stripe could not be reached. Try again later.')
      }
    },

    async close() {},
  }
}

/** What Stripe declines is a result; what it certainly did not carry out is a `NotSentError`. */
async function moving(move: () => Promise<GatewayResult>): Promise<GatewayResult> {
  try {
    return await move()
  } catch (error) {
    const {
      StripeCardError,
      StripeInvalidRequestError,
      StripeRateLimitError,
      StripeAuthenticationError,
      StripePermissionError,
      StripeConnectionError,
    } = Stripe.errors
    if (error instanceof StripeCardError) {
      const reason = error.decline_code ?? error.code ?? 'card_error'
      return declined(reason, declineClassOf(reason, error.code), error.payment_intent?.id ?? null)
    }
    // Stripe looked at it and moved nothing.
    if (error instanceof StripeInvalidRequestError && !IN_PROGRESS.includes(error.code ?? '')) {
      const reason = error.code ?? 'invalid_request'
      return declined(reason, declineClassOf(reason), null)
    }
    if (error instanceof StripeRateLimitError)
      throw new NotSentError('Stripe takes no more requests for now.')
    if (error instanceof StripeAuthenticationError || error instanceof StripePermissionError) {
      throw new NotSentError('Stripe does not accept the credentials of the gateway account.')
    }
    if (error instanceof StripeConnectionError && isUnconnected(error)) {
      throw new NotSentError('Stripe could not be reached.')
    }
    throw error
  }
}

/** The first request under the same key is still under way. */
const IN_PROGRESS = ['idempotency_key_in_use', 'lock_timeout']

const BRANDS: Readonly<Record<string, CardBrand>> = {
  amex: 'American Express',
  diners: 'Diners Club',
  discover: 'Discover',
  jcb: 'JCB',
  mastercard: 'MasterCard',
  visa: 'Visa',
}

/**
 * A declined card is a refusal, and so is a request that Stripe never carries out, if `refusal` says what that means.
 * @throws GatewayFailedError if there is no result.
 */
async function storing<T>(store: () => Promise<T>, refusal: string | null = null): Promise<T | CardRefusal> {
  try {
    return await store()
  } catch (error) {
    if (error instanceof CardRefusedError) return { refusal: error.message }
    const { StripeCardError, StripeInvalidRequestError } = Stripe.errors
    if (error instanceof StripeCardError) return { refusal: 'The card was declined.' }
    if (error instanceof StripeInvalidRequestError && error.code === 'resource_missing') {
      return { refusal: 'The payment method does not exist.' }
    }
    const isInvalid = error instanceof StripeInvalidRequestError && !IN_PROGRESS.includes(error.code ?? '')
    if (isInvalid && refusal !== null) return { refusal }
    // The library's error may contain what was sent.
    throw new GatewayFailedError('The gateway could not store or change the card. Try again later.')
  }
}

/** Lists what a customer was charged since an instant, newest first, until the request is found. */
async function findIntent(
  stripe: Stripe,
  sought: Request,
  requestId: string,
  since: number,
): Promise<Stripe.PaymentIntent | null> {
  const created = { gte: Math.max(0, Math.floor(since / 1000) - CLOCK_MARGIN) }
  const { customer } = partsOf(sought.reference)
  const page = { customer, created, limit: PAGE, expand: ['data.latest_charge'] }
  for await (const intent of stripe.paymentIntents.list(page)) {
    if (isOf(intent, sought, requestId)) return intent
  }
  return null
}

function isOf(
  { metadata }: { readonly metadata: Stripe.Metadata | null },
  { organizationId }: Request,
  requestId: string,
): boolean {
  const { requestId: id, captureRequestId, organizationId: owner } = metadata ?? {}
  return (id === requestId || captureRequestId === requestId) && owner === organizationId
}

export function resultOfIntent(intent: Stripe.PaymentIntent): GatewayResult {
  const { id, status, last_payment_error: failure } = intent
  const reason = failure?.decline_code ?? failure?.code ?? status
  switch (status) {
    case 'succeeded':
      return { result: 'approved', raw: rawOf(id, status, null), id }
    case 'requires_capture':
      return { result: 'approved', raw: rawOf(id, status, null), id, expiryTime: expiryTimeOf(intent) }
    case 'processing':
      return { result: 'unknown', raw: rawOf(id, status, null), id }
    case 'requires_action': {
      const approvalUrl = intent.next_action?.redirect_to_url?.url ?? null
      if (approvalUrl !== null) return { result: 'unknown', raw: rawOf(id, status, null), id, approvalUrl }
      return declined(reason, 'needs-action', id)
    }
    case 'requires_confirmation':
      return declined(reason, 'needs-action', id)
    case 'canceled':
      // Whoever canceled it: no bank was asked for the money.
      return failure == null && intent.latest_charge == null
        ? { ...declined(reason, null, id), isAbandoned: true }
        : declined(reason, declineClassOf(reason, failure?.code), id)
    default:
      // Without a failure no bank has been asked yet.
      return status === 'requires_payment_method' && failure == null
        ? { result: 'unknown', raw: rawOf(id, status, null), id }
        : declined(reason, declineClassOf(reason, failure?.code), id)
  }
}

/** When Stripe releases what an intent holds. */
function expiryTimeOf({ latest_charge: charge }: Stripe.PaymentIntent): number | null {
  const card = typeof charge === 'object' ? charge?.payment_method_details?.card : null
  return card?.capture_before == null ? null : card.capture_before * 1000
}

async function authorizationOf(stripe: Stripe, request: OfAuthorization): Promise<string | null> {
  const { authorizationId, authorizationRequestId } = request
  return authorizationId ?? (await findIntent(stripe, request, authorizationRequestId, 0))?.id ?? null
}

/** Returns what an intent tells of a capture of it; null: it was not captured. */
function captureIn({ id, status, metadata }: Stripe.PaymentIntent, requestId: string): GatewayResult | null {
  if (status === 'requires_capture') return null
  if (status === 'processing') return { result: 'unknown', raw: rawOf(id, status, null), id }
  if (status !== 'succeeded') return declined('authorization-ended', 'hard', id)
  if (metadata.captureRequestId !== requestId) return declined('already-captured', 'hard', id)
  return { result: 'approved', raw: rawOf(id, status, null), id }
}

/** Returns what an intent tells of its release; null: it still holds the money. */
function releaseOf({ id, status }: Stripe.PaymentIntent): GatewayResult | null {
  if (status === 'requires_capture') return null
  if (status !== 'canceled') return declined('already-captured', 'hard', id)
  return { result: 'approved', raw: rawOf(id, status, null), id }
}

/** A refund that fails later is reported by Stripe's notifications. */
export function resultOfRefund({ id, status, failure_reason: reason }: Stripe.Refund): GatewayResult {
  if (status === 'failed' || status === 'canceled') return declined(reason ?? status, 'hard', id)
  if (status === 'requires_action') return { result: 'unknown', raw: rawOf(id, status, null), id }
  return { result: 'approved', raw: rawOf(id, status ?? 'succeeded', null), id }
}

function declined(reason: string, decline: DeclineClass | null, id: string | null): GatewayResult {
  return { result: 'declined', raw: rawOf(id, 'declined', reason), id, decline }
}

function rawOf(id: string | null, status: string, reason: string | null): string {
  return JSON.stringify({ id, status, reason })
}

/** What Stripe does not name may succeed later. */
const DECLINES: Readonly<Record<string, DeclineClass>> = {
  ...classed('lost-or-stolen', ['lost_card', 'stolen_card', 'pickup_card']),
  ...classed('insufficient-funds', [
    'insufficient_funds',
    'withdrawal_count_limit_exceeded',
    'card_velocity_exceeded',
  ]),
  ...classed('needs-action', [
    'authentication_required',
    'authentication_not_handled',
    'payment_intent_authentication_failure',
  ]),
  ...classed('amount', ['amount_too_large', 'amount_too_small']),
  ...classed('hard', [
    'account_closed',
    'card_not_supported',
    'currency_not_supported',
    'do_not_try_again',
    'expired_card',
    'fraudulent',
    'incorrect_number',
    'invalid_account',
    'invalid_expiry_month',
    'invalid_expiry_year',
    'invalid_number',
    'merchant_blacklist',
    'new_account_information_available',
    'restricted_card',
    'revocation_of_all_authorizations',
    'revocation_of_authorization',
    'security_violation',
    'service_not_allowed',
    'stop_payment_order',
    'transaction_not_allowed',
    // Stripe refuses these requests before a bank is asked, however often: they do not fit the card or what was paid.
    // What it refuses for another reason, such as the state of the account, is soft.
    'charge_already_refunded',
    'payment_intent_unexpected_state',
    'payment_method_currency_mismatch',
    'payment_method_invalid_parameter',
    'payment_method_unexpected_state',
    'payment_method_unsupported_type',
    'resource_missing',
  ]),
}

function classed(decline: DeclineClass, codes: readonly string[]): Record<string, DeclineClass> {
  return Object.fromEntries(codes.map((code) => [code, decline]))
}

export function declineClassOf(declineCode: string, code?: string | null): DeclineClass {
  return DECLINES[declineCode] ?? DECLINES[code ?? ''] ?? 'soft'
}

/** True if no connection was made, so that nothing was sent. */
function isUnconnected(error: Stripe.errors.StripeConnectionError): boolean {
  const { code } = (error.detail ?? {}) as NodeJS.ErrnoException
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code ?? '')
}

function partsOf(reference: string): { readonly customer: string; readonly paymentMethod: string } {
  const [customer = '', paymentMethod = ''] = reference.split('/')
  return { customer, paymentMethod }
}

function metadataOf({ organizationId, requestId }: Request): Record<string, string> {
  return { organizationId, requestId }
}

function requestIdOf({ organizationId, requestId }: Request): string {
  return `${organizationId}/${requestId}`
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
