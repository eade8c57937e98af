/** Applies stored notifications (decisions 6.5): each takes effect once, in one transaction. */
import { referenceOf, splitReference } from '../../billing/gateway-references.ts'
import { Money } from '../../billing/money.ts'
import { takesMoney } from '../../billing/transactions.ts'
import { lockText } from '../../db/advisory-locks.ts'
import { PaymentInstrument, Transaction } from '../../db/entities/index.ts'
import { MONEY_TAKEN } from '../../db/entities/transaction.ts'
import { growingWait } from '../../db/quarantine.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { MovementOutcome } from '../../gateways/movement.ts'
import type {
  ChargeNotification,
  DisputeNotification,
  NotificationContent,
  RefundNotification,
} from '../../gateways/notifications.ts'
import type { GatewayResult } from '../../gateways/port.ts'
import { recordReportedDispute } from '../disputes/record-reported-dispute.ts'
import { releaseAuthorization } from './capture-authorization.ts'
import { heldBy, lastRoute } from './gateway-routes.ts'
import { inquireNow, recordFoundResult } from './query-transaction.ts'
import { recordForeignCapture } from './record-foreign-capture.ts'
import { FOREIGN, recordForeignRefund, reverseRefund } from './record-foreign-refund.ts'
import { renewCard } from './renew-card.ts'

/**
 * `ignored`: it is about nothing of this service. `superseded`: a later one of its object was applied.
 * `deferred`: what it is about may be known soon.
 */
export const NOTIFICATION_OUTCOMES = ['applied', 'ignored', 'superseded', 'deferred'] as const
export type NotificationOutcome = (typeof NOTIFICATION_OUTCOMES)[number]

export interface ClaimedNotification {
  readonly gatewayAccountId: string
  readonly id: string
}

interface StoredNotification extends ClaimedNotification {
  readonly record: string
  readonly object: string
  readonly content: NotificationContent
}

/**
 * Processes the notification that has been due for longest and is the first of its record; waits for others
 * of the record. `onClaim` is called before anything is done. Returns null if none is due.
 */
export async function processNextNotification(
  unit: UnitOfWork,
  onClaim: (claimed: ClaimedNotification) => void,
): Promise<NotificationOutcome | null> {
  const { em, organizationId } = unit
  const [found] = await statement<StoredNotification>(
    em,
    'claim-notification',
    `select gateway_account_id as "gatewayAccountId", id, record, object, content
       from gateway_notifications candidate
      where organization_id = ? and status = 'received' and due_time <= now()
        and not exists (select from gateway_notifications earlier
              where earlier.organization_id = candidate.organization_id
                and earlier.gateway_account_id = candidate.gateway_account_id and earlier.record = candidate.record
                and earlier.status = 'received' and earlier.due_time <= now()
                and (earlier.occurred_time, earlier.rank, earlier.id) < (candidate.occurred_time, candidate.rank, candidate.id))
      order by due_time limit 1 for update skip locked`,
    [organizationId],
  )
  if (found === undefined) return null
  onClaim(found)
  await lockText(em, `notification/${organizationId}/${found.gatewayAccountId}/${found.record}`)
  const outcome = (await isSuperseded(unit, found)) ? 'superseded' : await apply(unit, found)
  // Flushed first, so that a failure of the ORM's writes is this notification's.
  await em.flush()
  await end(unit, found, outcome)
  return outcome
}

async function isSuperseded(
  { em, organizationId }: UnitOfWork,
  { gatewayAccountId, id, record, object }: StoredNotification,
): Promise<boolean> {
  const [row] = await statement<{ isSuperseded: boolean }>(
    em,
    'find-later-notification',
    `select exists (select from gateway_notifications later
        where later.organization_id = given.organization_id and later.gateway_account_id = given.gateway_account_id
          and later.record = ? and later.object = ? and later.status = 'applied'
          and (later.occurred_time, later.rank) > (given.occurred_time, given.rank)) as "isSuperseded"
       from gateway_notifications given where organization_id = ? and gateway_account_id = ? and id = ?`,
    [record, object, organizationId, gatewayAccountId, id],
  )
  return row?.isSuperseded === true
}

async function end(
  { em, organizationId, now }: UnitOfWork,
  { gatewayAccountId, id }: ClaimedNotification,
  outcome: NotificationOutcome,
): Promise<void> {
  if (outcome === 'deferred') {
    await statement(
      em,
      'defer-notification',
      `update gateway_notifications set failures = failures + 1, failure = 'what it is about is not known yet', due_time = ${LATER}
        where organization_id = ? and gateway_account_id = ? and id = ?`,
      [organizationId, gatewayAccountId, id],
    )
    return
  }
  await statement(
    em,
    'end-notification',
    `update gateway_notifications set status = ?, processed_time = ?, due_time = null, failures = 0, failure = null
      where organization_id = ? and gateway_account_id = ? and id = ?`,
    [outcome, now, organizationId, gatewayAccountId, id],
  )
}

const LATER = `now() + ${growingWait('failures')}`

/** Quarantines a failed notification, so that it hinders no other. Returns until when. */
export async function quarantineNotification(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  { gatewayAccountId, id }: ClaimedNotification,
  reason: string,
): Promise<Date | null> {
  const [row] = await statement<{ until: Date | string }>(
    em,
    'quarantine-notification',
    `update gateway_notifications set failures = failures + 1, failure = ?, due_time = ${LATER}
      where organization_id = ? and gateway_account_id = ? and id = ? and status = 'received' returning due_time as until`,
    [reason.replaceAll('\u0000', '').slice(0, 500), organizationId, gatewayAccountId, id],
  )
  return row === undefined ? null : new Date(row.until)
}

/** Puts a notification off for seconds: the database failed, or another transaction was in its way. */
export async function postponeNotification(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  { gatewayAccountId, id }: ClaimedNotification,
): Promise<void> {
  await statement(
    em,
    'postpone-notification',
    `update gateway_notifications set due_time = now() + interval '5 seconds'
      where organization_id = ? and gateway_account_id = ? and id = ? and status = 'received'`,
    [organizationId, gatewayAccountId, id],
  )
}

async function apply(unit: UnitOfWork, notification: StoredNotification): Promise<NotificationOutcome> {
  const { gatewayAccountId, content } = notification
  switch (content.kind) {
    case 'charge':
      return await applyResult(unit, gatewayAccountId, content.requestId, content)
    case 'refund':
      return content.requestId === null
        ? await applyForeignRefund(unit, gatewayAccountId, content)
        : await applyResult(unit, gatewayAccountId, content.requestId, content)
    case 'dispute':
      return await applyDispute(unit, gatewayAccountId, content)
    case 'card': {
      const reference = referenceOf({ account: gatewayAccountId, reference: content.reference })
      const { em, organizationId } = unit
      const cards = await em.find(PaymentInstrument, { organizationId, gatewayReference: reference })
      for (const { id } of cards) await renewCard(unit, id, content)
      return cards.length === 0 ? 'ignored' : 'applied'
    }
    // Of another kind too: rows of earlier releases.
    default:
      return 'ignored'
  }
}

/** Records the outcome of what the service has requested, as an inquiry would, or has the gateway asked for it. */
async function applyResult(
  unit: UnitOfWork,
  gatewayAccountId: string,
  requestId: string,
  notification: ChargeNotification | RefundNotification,
): Promise<NotificationOutcome> {
  const { em, organizationId } = unit
  const { kind, outcome } = notification
  const types: Transaction['type'][] = kind === 'charge' ? ['sale', 'authorize', 'capture'] : ['refund']
  const found = await em.findOne(Transaction, { organizationId, requestId, type: { $in: types } })
  if (found === null) return 'ignored'
  const isRouted = found.type === 'sale' || found.type === 'authorize'
  const route = isRouted ? await lastRoute(em, organizationId, requestId) : null
  const { gatewayReference } = route ?? found
  if (accountOrOwn({ gatewayReference }) !== gatewayAccountId) {
    return route === null ? 'ignored' : approvedBefore(found, outcome)
  }
  const isDeclinedForNow = outcome.result === 'declined' && outcome.decline === 'soft'
  // Named by the authorization: a capture that the service has made is named by its own request.
  const captured = found.type === 'authorize' && 'captured' in notification ? notification.captured : null
  const isHeld = found.type === 'authorize' && captured == null
  const isWithoutExpiry = isHeld && outcome.result === 'approved' && outcome.expiryTime == null
  // Another account may approve the charge, or the notification does not hold all that the gateway knows.
  const isToBeAsked = (route?.hasEnded === false && isDeclinedForNow) || isWithoutExpiry
  if (outcome.result === 'unknown' || (isToBeAsked && isPending(found))) {
    if (kind === 'charge') await inquireNow(unit, found.id)
    return kind === 'charge' ? 'applied' : 'ignored'
  }
  if (outcome.result === 'declined' && found.status === 'waiting-capture')
    await releaseAuthorization(unit, found.id)
  else if (isReversed(found, kind, outcome.result)) await reverseRefund(unit, found.id, outcome)
  else await recordFoundResult(unit, found.id, { ...ended(outcome), ...(await heldBy(em, found, route)) })
  if (captured == null) return 'applied'
  return (await recordForeignCapture(unit, found.id, captured, outcome)) ? 'applied' : 'deferred'
}

/** As an inquiry would find it. */
function ended(outcome: GatewayResult): MovementOutcome {
  return outcome.isAbandoned === true ? { ...outcome, result: 'abandoned' } : outcome
}

/**
 * Of an account that had declined a charge before it was sent on: money that it took after all is shown to operators.
 *
 * @throws Error for that.
 */
function approvedBefore(found: Transaction, { id, result }: GatewayResult): NotificationOutcome {
  // Two accounts of the service may be one at the provider.
  if (result !== 'approved' || id === found.gatewayTransactionId) return 'ignored'
  if (isPending(found)) return 'deferred'
  throw new Error(`transaction ${found.id} was approved by a gateway account that had declined it before`)
}

function isPending({ status }: Transaction): boolean {
  return status === 'pending'
}

function isReversed(
  { result }: Transaction,
  kind: 'charge' | 'refund',
  reported: 'approved' | 'declined',
): boolean {
  return kind === 'refund' && result === 'approved' && reported === 'declined'
}

/** Records a refund that was made at the provider, and not by this service. */
async function applyForeignRefund(
  unit: UnitOfWork,
  gatewayAccountId: string,
  refund: RefundNotification,
): Promise<NotificationOutcome> {
  const { em, organizationId } = unit
  const { refundId, chargeId, amount, currency, outcome } = refund
  const requestId = `${FOREIGN}${refundId}`
  const before = await em.findOne(Transaction, { organizationId, requestId })
  if (before !== null) {
    if (outcome.result === 'declined' && before.result === 'approved')
      await reverseRefund(unit, before.id, outcome)
    return 'applied'
  }
  const sale = await saleOf(unit, gatewayAccountId, chargeId)
  if (typeof sale === 'string') return sale
  if (sale.status === 'pending') return 'deferred'
  // Nothing is to be recorded of it, also once an older notification says that it was approved.
  if (outcome.result === 'declined') return 'applied'
  if (outcome.result === 'unknown') return 'ignored'
  if (sale.result !== 'approved') throw new Error(`transaction ${sale.id} was refunded and is not approved`)
  if (sale.currency !== currency || (await isReleasedRest(unit, gatewayAccountId, sale, refund)))
    return 'ignored'
  await recordForeignRefund(unit, sale.id, { requestId, refundId, amount, rawResponse: outcome.raw })
  return 'applied'
}

/** A minute, in milliseconds. */
const AT_ONCE = 60_000

/** True of what a partial capture did not take: a provider may refund that together with the capture (docs/adr/0068). */
async function isReleasedRest(
  { em, organizationId }: UnitOfWork,
  gatewayAccountId: string,
  { type, amount, parentTransactionId }: Transaction,
  refund: RefundNotification,
): Promise<boolean> {
  if (type !== 'capture' || refund.createdTime == null) return false
  const held = await em.findOneOrFail(Transaction, { organizationId, id: parentTransactionId ?? '' })
  if (!new Money(held.amount).minus(amount).equals(refund.amount)) return false
  const captures = await statement<object>(
    em,
    'find-capture-notification',
    `select 1 from gateway_notifications
      where organization_id = ? and gateway_account_id = ? and record = ? and content ->> 'captured' is not null
        and abs(extract(epoch from occurred_time) * 1000 - ?) <= ?`,
    [organizationId, gatewayAccountId, refund.chargeId, refund.createdTime, AT_ONCE],
  )
  return captures.length > 0
}

async function applyDispute(
  unit: UnitOfWork,
  gatewayAccountId: string,
  dispute: DisputeNotification,
): Promise<NotificationOutcome> {
  const sale = await saleOf(unit, gatewayAccountId, dispute.chargeId)
  if (typeof sale === 'string') return sale
  await recordReportedDispute(unit, sale.id, dispute)
  return 'applied'
}

/**
 * A charge that no transaction names may be a pending sale's lost result, or a capture at the provider that is not told yet;
 * else it was made by other means.
 */
async function saleOf(
  unit: UnitOfWork,
  gatewayAccountId: string,
  gatewayTransactionId: string,
): Promise<Transaction | 'deferred' | 'ignored'> {
  const { em, organizationId } = unit
  // Asked first: a result that is recorded between the two statements is found by the second.
  const isPending = await hasPendingSale(unit, gatewayAccountId)
  const found = await em.find(Transaction, {
    organizationId,
    gatewayTransactionId,
    type: { $in: ['sale', 'capture', 'authorize'] },
  })
  const own = found.filter((one) => accountOrOwn(one) === gatewayAccountId)
  const taking = own.filter(({ type }) => takesMoney(type))
  // A capture of ours that was declined, because the provider's dashboard was first, has the same id.
  const approved = taking.find(({ result }) => result === 'approved')
  if (approved !== undefined) return approved
  const isHeld = own.some(({ status }) => status === 'waiting-capture')
  return isPending || isHeld ? 'deferred' : (taking[0] ?? 'ignored')
}

/** In place of an account's id: what the deployment's own gateway tells. No account has it. */
export const OWN_GATEWAY = ''

function accountOrOwn({ gatewayReference }: Pick<Transaction, 'gatewayReference'>): string | null {
  return gatewayReference == null ? null : (splitReference(gatewayReference)?.account ?? OWN_GATEWAY)
}

async function hasPendingSale(
  { em, organizationId }: UnitOfWork,
  gatewayAccountId: string,
): Promise<boolean> {
  const [row] = await statement<{ isPending: boolean }>(
    em,
    'find-pending-sales-of-account',
    `select exists (select from transactions sale
        left join gateway_routes route on route.organization_id = sale.organization_id and route.request_id = sale.request_id
       where sale.organization_id = ? and sale.status = 'pending' and sale.type in (${MONEY_TAKEN}, 'authorize')
         and starts_with(coalesce(route.reference, sale.gateway_reference), 'account/' || ?::text || '/')) as "isPending"`,
    [organizationId, gatewayAccountId],
  )
  return row?.isPending === true
}
