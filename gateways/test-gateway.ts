/**
 * The sandbox's test gateway, a separate system with its own connections and its own schema.
 *
 * Of a card it stores the behaviour and the last four digits, never the number. Its ledger has one row for each request
 * id, however often it was requested: the approved rows are the money that moved.
 */
import pg from 'pg'
import {
  type Charge,
  type DeclineClass,
  type Gateway,
  GatewayFailedError,
  type GatewayResult,
  NotSentError,
  type Refund,
} from './port.ts'

type Behaviour = 'approve' | 'decline' | 'lack-funds' | 'answer-late' | 'decline-renewals'

/** What the published test cards do; any other number is approved. */
const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  '4111111111111111': 'approve',
  '5555555555554444': 'approve',
  '4000000000000002': 'decline',
  '4000000000009995': 'lack-funds',
  '4000000000000119': 'answer-late',
  '4000000000000341': 'decline-renewals',
}

interface LedgerRow {
  request_id: string
  result: GatewayResult['result']
  reason: string | null
}

/** The reasons of the ledger in the list of the port. */
const DECLINES: Readonly<Record<string, DeclineClass>> = {
  'do-not-honor': 'soft',
  'insufficient-funds': 'insufficient-funds',
  'exceeds-charge': 'hard',
  'unknown-reference': 'hard',
}

const NAME = 'TestGateway'
/** Time limit of a query. Milliseconds. */
const TIMEOUT = 10_000

/** How long a repeated request id is idempotent, as promised; the ledger in fact keeps ids for ever. */
const IDEMPOTENCY_WINDOW = 24 * 3_600_000

export function createTestGateway(
  databaseUrl: string,
  { idempotencyWindow = IDEMPOTENCY_WINDOW }: { readonly idempotencyWindow?: number } = {},
): Gateway {
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
      return row === undefined ? null : resultOf(row)
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

  return {
    name: NAME,
    idempotencyWindow,

    takesCards: async () => true,

    async store(organizationId, { pan }) {
      try {
        const { rows } = await pool.query<{ reference: string }>(
          `insert into test_gateway.cards (organization_id, reference, behaviour, last4)
           values ($1, 'ref_' || replace(gen_random_uuid()::text, '-', ''), $2, $3) returning reference`,
          [organizationId, BEHAVIOURS[pan] ?? 'approve', pan.slice(-4)],
        )
        return { reference: rows[0]?.reference ?? '', gatewayName: NAME }
      } catch {
        // The driver's message may contain bound values.
        throw new GatewayFailedError('The gateway could not store the card. Try again later.')
      }
    },

    async charge({ organizationId, requestId, reference, amount, currency }: Charge) {
      return resultOrDeclined(
        await ask(
          `insert into test_gateway.ledger
             (organization_id, request_id, kind, reference, amount, currency, result, reason)
           select card.organization_id, $2, 'charge', card.reference, $4, $5,
                  case when card.behaviour in ('decline', 'lack-funds') then 'declined'
                       when card.behaviour = 'answer-late' then 'unknown'
                       when card.behaviour = 'decline-renewals' and charged.before then 'declined'
                       else 'approved' end,
                  case when card.behaviour = 'lack-funds' then 'insufficient-funds'
                       when card.behaviour = 'decline' then 'do-not-honor'
                       when card.behaviour = 'decline-renewals' and charged.before then 'do-not-honor' end
             from test_gateway.cards card,
                  lateral (select exists (select from test_gateway.ledger earlier
                     where earlier.organization_id = card.organization_id and earlier.reference = card.reference
                       and earlier.result = 'approved') as before) charged
            where card.organization_id = $1 and card.reference = $3
           ${ASKED_AGAIN}`,
          [organizationId, requestId, reference, amount, currency],
        ),
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
           ${ASKED_AGAIN}`,
          [organizationId, requestId, chargeRequestId, amount, currency],
        ),
      )
    },

    async find(movement) {
      const { organizationId, requestId } = movement.kind === 'charge' ? movement.charge : movement.refund
      return await ask(
        `update test_gateway.ledger set calls = calls + 1,
                result = case when result = 'unknown' then 'approved' else result end
          where organization_id = $1 and request_id = $2 returning request_id, result, reason`,
        [organizationId, requestId],
      )
    },

    close: () => pool.end(),
  }
}

/** A repeated request id moves nothing more. If its first result was late, it is available by now. */
const ASKED_AGAIN = `on conflict (organization_id, request_id) do update
   set calls = test_gateway.ledger.calls + 1,
       result = case when test_gateway.ledger.result = 'unknown' then 'approved' else test_gateway.ledger.result end
 returning request_id, result, reason`

function resultOf({ request_id: id, result, reason }: LedgerRow): GatewayResult {
  const decline = result === 'declined' ? (DECLINES[reason ?? ''] ?? 'soft') : null
  return { result, raw: JSON.stringify({ result, reason }), id, decline }
}

function resultOrDeclined(result: GatewayResult | null): GatewayResult {
  const raw = JSON.stringify({ result: 'declined', reason: 'unknown-reference' })
  return result ?? { result: 'declined', raw, id: null, decline: 'hard' }
}
