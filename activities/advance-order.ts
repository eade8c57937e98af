import { executionTime } from '../billing/order-clock.ts'
import {
  type AdvancedOrder,
  advanceDueOrders,
  advanceOrder,
  findDueOrders,
  lockSubscription,
} from '../commands/orders/advance-order.ts'
import { advanceInstant, trackFastForward } from '../commands/orders/fast-forward.ts'
import { orderClock } from '../commands/orders/order-instant.ts'
import type { Subscription } from '../db/entities/index.ts'
import { isInfrastructureFailure } from '../db/infrastructure-failure.ts'
import { statement } from '../db/statement.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import {
  type AdvanceInput,
  type AdvanceResult,
  searchAttributesOf,
  type Visibility,
} from '../workflows/contract.ts'
import type { Advancing } from './advancing.ts'
import { executionTimeOf, heldBack, wakingTime } from './instant.ts'
import { quarantinedResult } from './quarantine.ts'

const BATCH = 100
const ORGANIZATIONS = 8
/** An instant further ahead of this process's clock belongs to an execution that skips time. Milliseconds. */
const SKIPPED = 1_000

export interface OrderAdvancer {
  /** Advances the order, and in the same transaction all due orders of its organization. Idempotent. */
  advance(input: AdvanceInput): Promise<AdvanceResult>
  /** What the order waits for; null: it has to be advanced first. */
  waiting(input: AdvanceInput): Promise<AdvanceResult | null>
  /** One batch of the organization's due orders. If there are more, further ones follow by themselves until `stop`. */
  advanceDue(organizationId: string): Promise<AdvancedBatch>
  /** Ends after the batches in hand. Of later ones only those run that `advance` has to wait for. */
  stop(): Promise<void>
}

export interface AdvancedBatch {
  readonly count: number
  readonly isMore: boolean
}

const NOT_BEGUN: AdvancedBatch = { count: 0, isMore: true }

type Outcome = AdvancedOrder | { readonly quarantinedUntil: number }

interface Request {
  readonly id: string
  readonly instant: number
  /** Receives the outcome of the order, or null if the batch had to leave the order out. */
  readonly result: (outcome: Outcome | null) => void
  readonly fail: (error: unknown) => void
}

interface Organization {
  requests: Request[]
  isMore: boolean
  isRunning: boolean
  /** Callers that wait for the next batch, whatever it contains. */
  waiting: PromiseWithResolvers<AdvancedBatch>[]
}

/** One batch of an organization runs at a time, and several organizations run concurrently. */
export function createOrderAdvancer(dependencies: Advancing): OrderAdvancer {
  const { em, baseUrl, now, quarantine, skipsTime, clock } = dependencies
  const organizations = new Map<string, Organization>()
  const underWay = new Set<Promise<void>>()
  let isStopping = false
  /** Batches under way that no request began. */
  let withoutRequests = 0

  const organizationOf = (id: string): Organization => {
    const known = organizations.get(id)
    if (known !== undefined) return known
    const fresh: Organization = { requests: [], isMore: false, isRunning: false, waiting: [] }
    organizations.set(id, fresh)
    return fresh
  }

  const hasMore = ({ isMore }: Organization): boolean => isMore && !isStopping

  const isFirstWithoutRequests = (organization: Organization): boolean =>
    withoutRequests === 0 && hasMore(organization) && !hasRequests(organization)

  /**
   * Organizations with waiting requests go first, in the order of their arrival. One place is for those without: while
   * timers keep firing, no other would ever be advanced, and the sweep would count as stalled.
   */
  const pump = (): void => {
    for (const isWanted of [isFirstWithoutRequests, hasRequests, hasMore]) {
      for (const [id, organization] of organizations) {
        if (underWay.size >= ORGANIZATIONS) return
        if (organization.isRunning || !isWanted(organization)) continue
        const isWithoutRequests = !hasRequests(organization)
        organization.isRunning = true
        if (isWithoutRequests) withoutRequests += 1
        const batch = runBatch(id, organization).finally(() => {
          organization.isRunning = false
          underWay.delete(batch)
          if (isWithoutRequests) withoutRequests -= 1
          organizations.delete(id)
          // Last in the queue: an organization with many due orders delays no other one.
          if (hasRequests(organization) || hasMore(organization)) organizations.set(id, organization)
          pump()
        })
        underWay.add(batch)
      }
    }
  }

  const runBatch = async (organizationId: string, organization: Organization): Promise<void> => {
    const requests = organization.requests.splice(0, BATCH)
    const waiting = organization.waiting.splice(0)
    organization.isMore = false
    try {
      const outcomes = await advanceBatch(organizationId, requests)
      for (const { id, result } of requests) result(outcomes.get(id) ?? null)
      const isMore = outcomes.size >= BATCH
      for (const { resolve } of waiting) resolve({ count: outcomes.size, isMore })
      organization.isMore ||= isMore
    } catch (error) {
      for (const { fail } of requests) fail(error)
      for (const { reject } of waiting) reject(error)
    }
  }

  /** An order that cannot be advanced is quarantined, and the others advance. */
  const advanceBatch = async (
    organizationId: string,
    requests: readonly Request[],
  ): Promise<Map<string, Outcome>> => {
    clock.requireAgreement()
    const required = [...new Set(requests.map(({ id }) => id))]
    const instant =
      requests.length === 0 ? new Date(now()) : new Date(Math.max(...requests.map((one) => one.instant)))
    const outcomes = new Map<string, Outcome>()
    const setAside = async (id: string, error: unknown): Promise<void> => {
      const until = await quarantine.add('subscription', { organizationId, recordId: id }, error)
      outcomes.set(id, { quarantinedUntil: until })
    }
    const advance = async (ids: readonly string[], others: number): Promise<void> => {
      const { advanced, failed } = await inUnitOfWork(em(), tenant(organizationId), (unit) =>
        advanceDueOrders(unit, { required: ids, instant, others }),
      )
      for (const order of advanced) outcomes.set(order.row.id, order)
      for (const { id, error } of failed) await setAside(id, error)
    }
    /** Halves the batch until only the failing order is left. */
    const advanceApart = async (ids: readonly string[]): Promise<void> => {
      try {
        await advance(ids, 0)
      } catch (error) {
        if (isInfrastructureFailure(error)) throw error
        const [id = '', ...others] = ids
        if (others.length === 0) return await setAside(id, error)
        const half = Math.ceil(ids.length / 2)
        await advanceApart(ids.slice(0, half))
        await advanceApart(ids.slice(half))
      }
    }
    try {
      await advance(required, BATCH - required.length)
    } catch (error) {
      if (isInfrastructureFailure(error)) throw error
      await advanceApart([
        ...new Set([...required, ...(await findDueOrders(em(), { organizationId, instant, limit: BATCH }))]),
      ])
    }
    return outcomes
  }

  /** For an order whose clock was moved, whose execution skips time, or that another transaction held. */
  const advanceAlone = async ({
    organizationId,
    recordId,
    clock: executionClock,
    base,
  }: AdvanceInput): Promise<AdvanceResult> => {
    clock.requireAgreement()
    return await inUnitOfWork(em(), tenant(organizationId), async (unit) => {
      const row = await lockSubscription(unit, recordId)
      if (row === null) return { next: null, base: base ?? 0, visibility: null }
      const { revision } = row
      const realTime = unit.now.getTime()
      const time = executionTime(orderClock(row), { clock: executionClock, base }, realTime)
      const held = heldBack({ now: () => realTime, skipsTime }, time.instant)
      const instant = advanceInstant(row, held)
      const gatewayCallDue = await advanceOrder(unit, row, instant)
      await trackFastForward(unit, row, instant, revision)
      const result = resultOf({ row, gatewayCallDue })
      return {
        ...result,
        next: wakingTime(result.next, { time: time.instant, instant: held }),
        // A clock that has just stopped moving is read against another base.
        base: executionTime(orderClock(row), { clock: executionClock, base: time.base }, realTime).base,
      }
    })
  }

  const resultOf = ({ row, gatewayCallDue }: AdvancedOrder): Omit<AdvanceResult, 'base'> => {
    const { nextDeadline, movingTo } = row
    return {
      next:
        nextDeadline == null
          ? null
          : Math.min(nextDeadline.getTime(), movingTo?.getTime() ?? Number.POSITIVE_INFINITY),
      gatewayCallDue,
      visibility: orderVisibility(row),
    }
  }

  const waitingResult = (order: OrderState, base: number): AdvanceResult => ({
    next: order.nextDeadline?.getTime() ?? null,
    base,
    gatewayCallDue: false,
    visibility: orderVisibility(order),
  })

  const tenant = (organizationId: string) => ({ organizationId, baseUrl, now: new Date(now()) })

  return {
    async advance(input) {
      const { organizationId, recordId } = input
      const base = input.base ?? 0
      const instant = executionTimeOf(input)
      const held = heldBack(dependencies, instant)
      const order = await readOrder(dependencies, input)
      if (order === null) return { next: null, base, visibility: null }
      if (isWaiting(order, instant)) return waitingResult(order, base)
      const alone = () => quarantine.guard('subscription', input, () => advanceAlone(input))
      // A quarantined order stays out of batches until it has advanced.
      if (order.hasMoved || order.isQuarantined || instant > now() + SKIPPED) return await alone()
      const outcome = await new Promise<Outcome | null>((result, fail) => {
        organizationOf(organizationId).requests.push({ id: recordId, instant, result, fail })
        pump()
      })
      if (outcome === null) return await alone()
      if ('quarantinedUntil' in outcome)
        return quarantinedResult('subscription', input, outcome.quarantinedUntil, now())
      const result = resultOf(outcome)
      return { ...result, next: wakingTime(result.next, { time: instant, instant: held }), base }
    },

    async waiting(input) {
      const base = input.base ?? 0
      const order = await readOrder(dependencies, input)
      // The quarantine of an order ends when it has advanced.
      if (order === null || order.isQuarantined || !isWaiting(order, input.clock + base)) return null
      return waitingResult(order, base)
    },

    async advanceDue(organizationId) {
      if (isStopping) return NOT_BEGUN
      const organization = organizationOf(organizationId)
      const batch = Promise.withResolvers<AdvancedBatch>()
      organization.waiting.push(batch)
      organization.isMore = true
      pump()
      return await batch.promise
    },

    async stop() {
      isStopping = true
      for (const { waiting } of organizations.values())
        for (const { resolve } of waiting.splice(0)) resolve(NOT_BEGUN)
      await Promise.all(underWay)
    },
  }
}

function isWaiting({ hasMoved, nextDeadline }: OrderState, instant: number): boolean {
  return !hasMoved && (nextDeadline === null || nextDeadline.getTime() > instant)
}

function hasRequests({ requests }: Organization): boolean {
  return requests.length > 0
}

async function readOrder(
  { em }: Pick<Advancing, 'em'>,
  { organizationId, recordId }: AdvanceInput,
): Promise<OrderState | null> {
  type Read = Omit<OrderState, 'nextDeadline' | 'nextChargeTime'> & {
    readonly nextDeadline: string | null
    readonly nextChargeTime: string | null
  }
  const [row] = await statement<Read>(
    em(),
    'read-order-state',
    `select organization_id as "organizationId", id, customer_id as "customerId", status,
            billing_status as "billingStatus", next_deadline as "nextDeadline", next_due_kind as "nextDueKind",
            next_charge_time as "nextChargeTime", quarantined_until is not null as "isQuarantined", clock_offset <> 0 or moving_to is not null as "hasMoved"
       from subscriptions where organization_id = ? and id = ?`,
    [organizationId, recordId],
  )
  if (row === undefined) return null
  const date = (text: string | null) => (text === null ? null : new Date(text))
  return { ...row, nextDeadline: date(row.nextDeadline), nextChargeTime: date(row.nextChargeTime) }
}

type Visible = Pick<
  Subscription,
  | 'organizationId'
  | 'id'
  | 'customerId'
  | 'status'
  | 'billingStatus'
  | 'nextDeadline'
  | 'nextDueKind'
  | 'nextChargeTime'
>

interface OrderState extends Visible {
  readonly nextDeadline: Date | null
  readonly nextChargeTime: Date | null
  readonly hasMoved: boolean
  readonly isQuarantined: boolean
}

function orderVisibility(order: Visible): Visibility {
  const next = order.nextDeadline?.toISOString() ?? null
  const charge = order.nextChargeTime
  const planned = charge == null ? '' : ` Its next charge is planned for ${charge.toISOString()}.`
  return {
    details: `Order **${order.id}** of customer ${order.customerId} is **${order.status}**, its latest invoice **${order.billingStatus}**.${planned}`,
    timer: next === null ? 'nothing due' : `${order.nextDueKind ?? 'next'} at ${next}`,
    attributes: searchAttributesOf({
      organizationId: order.organizationId,
      customerId: order.customerId,
      status: order.status,
      nextDeadline: next,
    }),
  }
}
