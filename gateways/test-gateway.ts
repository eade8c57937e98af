/**
 * The sandbox's test gateway, a separate system with its own connections and schema. It never stores a card number.
 * Its ledger has one row for each request id: the approved rows are the money that moved.
 */
import { createHash, randomUUID } from 'node:crypto'
import pg from 'pg'
import type { GatewayNotification } from './notifications.ts'
import {
  type Charge,
  type DeclineClass,
  type Gateway,
  type GatewayCard,
  GatewayFailedError,
  type GatewayResult,
  NotSentError,
  type OfAuthorization,
  type Refund,
  requestOf,
  type StoredCard,
} from './port.ts'
import { returnPage } from './return-page.ts'

type Behaviour =
  | 'approve'
  | 'decline'
  | 'lack-funds'
  | 'expired'
  | 'lost'
  | 'stolen'
  | 'answer-late'
  /** Approved, and disputed a day later. */
  | 'dispute'
  | 'decline-renewals'
  /** Approved by its present customer at every charge. */
  | 'ask-always'
  /** As `ask-always`, but charged off session without being asked. */
  | 'ask-present'

/** The published test cards; any other number is approved. */
const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  '4111111111111111': 'approve',
  '5555555555554444': 'approve',
  '4000000000000002': 'decline',
  '4000000000009995': 'lack-funds',
  '4000000000000069': 'expired',
  '4000000000009987': 'lost',
  '4000000000009979': 'stolen',
  '4000000000000119': 'answer-late',
  '4000000000000341': 'decline-renewals',
  '4000000000000259': 'dispute',
  '4000002760003184': 'ask-always',
  '4000003800000446': 'ask-present',
}

const PAYMENT_METHODS: ReadonlyMap<string, string> = new Map([
  ['pm_card_visa', '4111111111111111'],
  ['pm_card_mastercard', '5555555555554444'],
  ['pm_card_visa_chargeDeclined', '4000000000000002'],
  ['pm_card_visa_chargeDeclinedInsufficientFunds', '4000000000009995'],
  ['pm_card_authenticationRequired', '4000002760003184'],
  ['pm_card_createDispute', '4000000000000259'],
])

const ALWAYS_DECLINED: Readonly<Partial<Record<Behaviour, string>>> = {
  decline: 'do-not-honor',
  'lack-funds': 'insufficient-funds',
  expired: 'expired-card',
  lost: 'lost-card',
  stolen: 'stolen-card',
}

interface LedgerRow {
  request_id: string
  /** `waiting`: for the customer's approval. */
  result: GatewayResult['result'] | 'waiting'
  reason: string | null
  approval_id: string | null
  expiry_time: Date | null
}

const DECLINES: Readonly<Record<string, DeclineClass>> = {
  'do-not-honor': 'soft',
  'insufficient-funds': 'insufficient-funds',
  'expired-card': 'hard',
  'lost-card': 'lost-or-stolen',
  'stolen-card': 'lost-or-stolen',
  'approval-required': 'needs-action',
  'approval-refused': 'needs-action',
  'exceeds-charge': 'hard',
  'authorization-ended': 'hard',
  'authorization-expired': 'hard',
  'exceeds-authorization': 'amount',
  'not-authorized': 'hard',
  'unknown-reference': 'hard',
}

export interface Approval {
  readonly amount: string
  readonly currency: string
  readonly last4: string
  readonly isWaiting: boolean
  readonly returnUrl: string
}

export interface Approvals {
  approval(id: string): Promise<Approval | null>
  decide(id: string, approves: boolean): Promise<DecidedCharge | null>
}

export interface DecidedCharge {
  readonly organizationId: string
  readonly requestId: string
  readonly outcome: GatewayResult
}

/** Charges of the card that is disputed. */
export interface Disputes {
  /** Those that are not disputed yet. */
  disputable(): Promise<DisputableCharge[]>
  recordDisputed(charge: Pick<DisputableCharge, 'organizationId' | 'requestId'>): Promise<void>
}

export interface DisputableCharge {
  readonly organizationId: string
  readonly requestId: string
  /** A decimal string. */
  readonly amount: string
  readonly currency: string
}

/** How long a dispute can be responded to. Milliseconds. */
const RESPONSE_WINDOW = 7 * 24 * 3_600_000

/** Tells of a dispute as the notification of a provider does. */
export function disputeNotification(
  { requestId, amount, currency }: DisputableCharge,
  postedTime: number,
): GatewayNotification {
  const id = `test_${createHash('sha256').update(requestId).digest('hex').slice(0, 32)}`
  const deadlineTime = postedTime + RESPONSE_WINDOW
  const raw = JSON.stringify({ id, charge: requestId, amount, currency, reason: 'fraudulent' })
  return {
    id,
    type: 'dispute.created',
    occurredTime: postedTime,
    rank: 0,
    record: requestId,
    object: id,
    content: {
      kind: 'dispute',
      disputeId: id,
      chargeId: requestId,
      amount,
      currency,
      reasonCode: 'fraudulent',
      type: 'first-chargeback',
      status: 'response-needed',
      postedTime,
      deadlineTime,
      raw,
    },
  }
}

export interface TestGateway extends Gateway, Approvals, Disputes {}

const NAME = 'TestGateway'
/** Milliseconds. */
const TIMEOUT = 10_000

/** Why it declined a charge that ended while it waited for its customer. */
const ABANDONED = 'abandoned'

/** How long it holds money. Days. */
const AUTHORIZED = 7

/** As promised; the ledger in fact keeps request ids for ever. */
const IDEMPOTENCY_WINDOW = 24 * 3_600_000

export function createTestGateway(
  databaseUrl: string,
  {
    baseUrl,
    idempotencyWindow = IDEMPOTENCY_WINDOW,
  }: {
    readonly baseUrl: string
    readonly idempotencyWindow?: number
  },
): TestGateway {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: 'test gateway',
    max: 5,
    connectionTimeoutMillis: 3_000,
    query_timeout: TIMEOUT,
    statement_timeout: TIMEOUT / 2,
    lock_timeout: TIMEOUT / 2,
    keepAlive: true,
    keepAliveInitialDelayMillis: TIMEOUT,
    idleTimeoutMillis: 5_000,
  })
  // An idle connection was lost; the next query opens another.
  pool.on('error', () => {})
  const ask = async (text: string, values: unknown[]): Promise<GatewayResult | null> => {
    const client = await reach()
    let failure: Error | undefined
    try {
      const [row] = (await client.query<LedgerRow>(text, values)).rows
      return row === undefined ? null : resultOf(row, baseUrl)
    } catch (error) {
      failure = error as Error
      throw error
    } finally {
      client.release(failure)
    }
  }
  const reach = async (): Promise<pg.PoolClient> => {
    try {
      return await pool.connect()
    } catch {
      throw new NotSentError('The gateway could not be reached.')
    }
  }

  const keep = async (
    organizationId: string,
    { pan }: GatewayCard,
    requestId: string,
  ): Promise<StoredCard> => {
    try {
      const { rows } = await pool.query<{ reference: string }>(
        `insert into test_gateway.cards (organization_id, reference, behaviour, last4)
           values ($1, $4, $2, $3)
           on conflict (organization_id, reference) do update set last4 = excluded.last4 returning reference`,
        [organizationId, BEHAVIOURS[pan] ?? 'approve', pan.slice(-4), referenceOf(organizationId, requestId)],
      )
      return { reference: rows[0]?.reference ?? '', gatewayName: NAME }
    } catch {
      // The driver's message may contain bound values.
      throw new GatewayFailedError('The gateway could not store or change the card. Try again later.')
    }
  }

  const enter = async (
    kind: 'charge' | 'authorize',
    { organizationId, requestId, reference, amount, currency, customer }: Charge,
  ): Promise<GatewayResult> =>
    resultOrDeclined(
      await ask(
        `insert into test_gateway.ledger
             (organization_id, request_id, kind, reference, amount, currency, result, reason, approval_id, return_url, expiry_time)
           select card.organization_id, $2, $10::text, card.reference, $4, $5,
                  case when declined.reason is not null then 'declined'
                       when asked.customer then 'waiting'
                       when card.behaviour = 'answer-late' then 'unknown'
                       else 'approved' end,
                  declined.reason, case when asked.customer then $7 end, case when asked.customer then $8 end,
                  case when $10::text = 'authorize' then now() + interval '${AUTHORIZED} days' end
             from test_gateway.cards card,
                  lateral (select exists (select from test_gateway.ledger earlier
                     where earlier.organization_id = card.organization_id and earlier.reference = card.reference
                       and earlier.result = 'approved') as before) charged,
                  lateral (select case
                       when card.behaviour = 'decline-renewals' and charged.before then 'do-not-honor'
                       when card.behaviour = 'ask-always' and not $6 then 'approval-required'
                       else $9::jsonb ->> card.behaviour end as reason) declined,
                  lateral (select $6 and card.behaviour in ('ask-always', 'ask-present') as customer) asked
            where card.organization_id = $1 and card.reference = $3
           ${ASKED_AGAIN}`,
        [
          organizationId,
          requestId,
          reference,
          amount,
          currency,
          customer !== null,
          randomUUID(),
          customer?.returnUrl ?? returnPage(baseUrl),
          JSON.stringify(ALWAYS_DECLINED),
          kind,
        ],
      ),
    )

  /** Ends an authorization, if nothing has yet. */
  const endAuthorization = async (
    kind: 'capture' | 'void',
    { organizationId, requestId, authorizationRequestId, amount, currency }: OfAuthorization,
  ): Promise<GatewayResult> =>
    resultOrDeclined(
      await ask(
        `insert into test_gateway.ledger
           (organization_id, request_id, kind, reference, charge_request_id, amount, currency, result, reason)
         select held.organization_id, $2, $6::text, held.reference, held.request_id, $4::numeric, $5,
                case when refused.reason is null then 'approved' else 'declined' end, refused.reason
           from test_gateway.ledger held,
                lateral (select case
                     when held.result <> 'approved' then 'not-authorized'
                     when exists (select from test_gateway.ledger ended
                       where ended.organization_id = held.organization_id and ended.charge_request_id = held.request_id
                         and ended.kind in ('capture', 'void') and ended.result = 'approved') then 'authorization-ended'
                     when held.expiry_time <= now() then 'authorization-expired'
                     when $4::numeric > held.amount then 'exceeds-authorization' end as reason) refused
          where held.organization_id = $1 and held.request_id = $3 and held.kind = 'authorize'
         ${ASKED_AGAIN}`,
        [organizationId, requestId, authorizationRequestId, amount, currency, kind],
      ),
    )

  return {
    name: NAME,
    idempotencyWindow,

    takesCards: async () => true,

    store: keep,

    async adopt(organizationId, paymentMethod) {
      const pan = PAYMENT_METHODS.get(paymentMethod)
      if (pan === undefined) return { refusal: 'The payment method does not exist.' }
      const card = { pan, cvv: null, expMonth: 12, expYear: 2090 }
      const { reference } = await keep(organizationId, card, paymentMethod)
      const { expMonth, expYear } = card
      const brand = pan.startsWith('5') ? 'MasterCard' : 'Visa'
      const last4 = pan.slice(-4)
      return { reference, gatewayName: NAME, last4, brand, expMonth, expYear, fingerprint: paymentMethod }
    },

    // It knows no date: its card that has expired is one of its numbers.
    renew: async () => null,

    charge: (charge) => enter('charge', charge),
    authorize: (charge) => enter('authorize', charge),
    capture: (capture) => endAuthorization('capture', capture),
    void: (release) => endAuthorization('void', release),

    async abandon({ organizationId, requestId }) {
      return await ask(
        `update test_gateway.ledger
            set calls = calls + 1,
                reason = case when result = 'waiting' then '${ABANDONED}' else reason end,
                result = case when result = 'waiting' then 'declined' else result end
          where organization_id = $1 and request_id = $2 returning ${RESULT}`,
        [organizationId, requestId],
      )
    },

    async refund({ organizationId, requestId, chargeRequestId, amount, currency }: Refund) {
      return resultOrDeclined(
        await ask(
          `insert into test_gateway.ledger
             (organization_id, request_id, kind, charge_request_id, amount, currency, result, reason)
           select charge.organization_id, $2, 'refund', charge.request_id, $4::numeric, $5,
                  case when room.enough then 'approved' else 'declined' end,
                  case when room.enough then null else 'exceeds-charge' end
             from test_gateway.ledger charge,
                  lateral (select charge.amount >= $4::numeric + coalesce(sum(earlier.amount), 0) as enough
                     from test_gateway.ledger earlier
                    where earlier.organization_id = charge.organization_id and earlier.kind = 'refund'
                      and earlier.charge_request_id = charge.request_id and earlier.result = 'approved') room
            where charge.organization_id = $1 and charge.request_id = $3 and charge.result = 'approved'
              and charge.kind in ('charge', 'capture')
           ${ASKED_AGAIN}`,
          [organizationId, requestId, chargeRequestId, amount, currency],
        ),
      )
    },

    async find(movement) {
      const { organizationId, requestId } = requestOf(movement)
      return await ask(
        `update test_gateway.ledger set calls = calls + 1,
                result = case when result = 'unknown' then 'approved' else result end
          where organization_id = $1 and request_id = $2 returning ${RESULT}`,
        [organizationId, requestId],
      )
    },

    async approval(id) {
      const { rows } = await pool.query<Approval>(
        `select charge.amount::text as amount, charge.currency, card.last4, charge.return_url as "returnUrl",
                charge.result = 'waiting' as "isWaiting"
           from test_gateway.ledger charge
           join test_gateway.cards card on card.organization_id = charge.organization_id and card.reference = charge.reference
          where charge.approval_id = $1`,
        [id],
      )
      return rows[0] ?? null
    },

    async decide(id, approves) {
      const { rows } = await pool.query<LedgerRow & { organization_id: string }>(
        `update test_gateway.ledger
            set result = case when $2 then 'approved' else 'declined' end,
                reason = case when $2 then null else 'approval-refused' end
          where approval_id = $1 and result = 'waiting' returning organization_id, ${RESULT}`,
        [id, approves],
      )
      const [row] = rows
      if (row === undefined) return null
      return {
        organizationId: row.organization_id,
        requestId: row.request_id,
        outcome: resultOf(row, baseUrl),
      }
    },

    async disputable() {
      const { rows } = await pool.query<DisputableCharge>(
        `select charge.organization_id as "organizationId", charge.request_id as "requestId",
                trim_scale(charge.amount)::text as amount, charge.currency
           from test_gateway.cards card
           join test_gateway.ledger charge
             on charge.organization_id = card.organization_id and charge.reference = card.reference
          where card.behaviour = 'dispute' and charge.kind in ('charge', 'capture') and charge.result = 'approved'
            and not charge.is_disputed
          order by charge.created_time limit 1000`,
      )
      return rows
    },

    async recordDisputed({ organizationId, requestId }) {
      await pool.query(
        'update test_gateway.ledger set is_disputed = true where organization_id = $1 and request_id = $2',
        [organizationId, requestId],
      )
    },

    close: () => pool.end(),
  }
}

/** The same for the same request, so that a repetition stores a card once. */
function referenceOf(organizationId: string, requestId: string): string {
  const digest = createHash('sha256').update(`${organizationId}/${requestId}`).digest('hex')
  return `ref_${digest.slice(0, 32)}`
}

const RESULT = 'request_id, result, reason, approval_id, expiry_time'

/** A repeated request id moves nothing more. If its first result was late, it is available by now. */
const ASKED_AGAIN = `on conflict (organization_id, request_id) do update
   set calls = test_gateway.ledger.calls + 1,
       result = case when test_gateway.ledger.result = 'unknown' then 'approved' else test_gateway.ledger.result end
 returning ${RESULT}`

function resultOf(
  { request_id: id, result, reason, approval_id: approvalId, expiry_time: expiry }: LedgerRow,
  baseUrl: string,
): GatewayResult {
  if (result === 'waiting') {
    const approvalUrl = `${baseUrl}/test-gateway/approvals/${approvalId}`
    return { result: 'unknown', raw: JSON.stringify({ result, reason }), id, approvalUrl }
  }
  const isAbandoned = reason === ABANDONED
  const decline = result === 'declined' && !isAbandoned ? (DECLINES[reason ?? ''] ?? 'soft') : null
  return {
    result,
    raw: JSON.stringify({ result, reason }),
    id,
    decline,
    isAbandoned,
    expiryTime: expiry?.getTime() ?? null,
  }
}

function resultOrDeclined(result: GatewayResult | null): GatewayResult {
  const raw = JSON.stringify({ result: 'declined', reason: 'unknown-reference' })
  return result ?? { result: 'declined', raw, id: null, decline: 'hard' }
}
