/** Which gateway account a request was sent to, in one row of its request id (docs/adr/0084). */
import type { EntityManager } from '@mikro-orm/postgresql'
import { splitReference } from '../../billing/gateway-references.ts'
import { GatewayAccount, type Transaction } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { DailyLimit, GatewayRoutes, SentTo } from '../../gateways/accounts.ts'
import type { Charge, GatewayResult } from '../../gateways/port.ts'

/** @param now real time in milliseconds, which tells the day. */
export function gatewayRoutes(em: () => EntityManager, now: () => number): GatewayRoutes {
  return {
    async send(charge, from, { reference, account, limit }) {
      if (limit === null) {
        const unit = em()
        const hasEntered = await enter(unit, charge, from, { reference, account, day: null })
        return hasEntered ? { reference, since: null } : await sentTo(unit, charge)
      }
      const day = new Date(now()).toISOString().slice(0, 10)
      try {
        return await em().transactional(async (unit) => {
          const hasEntered = await enter(unit, charge, from, { reference, account, day })
          if (!hasEntered) return await sentTo(unit, charge)
          if (!(await count(unit, charge, account, limit, day))) throw new OverLimitError()
          return { reference, since: null }
        })
      } catch (error) {
        if (error instanceof OverLimitError) return 'over-limit'
        throw error
      }
    },

    async end({ organizationId, requestId }, from) {
      const unit = em()
      if (from === null) {
        await statement(
          unit,
          'refuse-gateway-route',
          `insert into gateway_routes (organization_id, request_id, has_ended) values (?, ?, true) on conflict do nothing`,
          [organizationId, requestId],
        )
      } else {
        await statement(
          unit,
          'end-gateway-route',
          `update gateway_routes set has_ended = true where organization_id = ? and request_id = ? and reference = ?`,
          [organizationId, requestId, from],
        )
      }
      return await sentTo(unit, { organizationId, requestId })
    },

    last: async (charge) => (await sentTo(em(), charge)).reference,

    async isOpen({ organizationId, requestId }) {
      const rows = await statement<object>(
        em(),
        'find-open-gateway-route',
        `select 1 from gateway_routes where organization_id = ? and request_id = ? and not has_ended`,
        [organizationId, requestId],
      )
      return rows.length > 0
    },

    async backups(organizationId, reference) {
      const [row] = await statement<{ backups: string[] }>(
        em(),
        'find-backup-references',
        `select backup_references as backups from payment_instruments
          where organization_id = ? and gateway_reference = ? order by created_time limit 1`,
        [organizationId, reference],
      )
      return row?.backups ?? []
    },

    uncount: async (charge, reference) => await uncountCharge(em(), charge, reference),
  }
}

/** A charge no longer counts for the limit of its day, wherever it was last sent, or only if that is `reference`. */
export async function uncountCharge(
  em: EntityManager,
  { organizationId, requestId, currency, amount }: Omit<Charge, 'reference' | 'customer'>,
  reference: string | null = null,
): Promise<void> {
  await statement(
    em,
    'uncount-gateway-route',
    `with counted as (
       select gateway_account_id, counted_day from gateway_routes
        where organization_id = ? and request_id = ? and reference = coalesce(?::text, reference) and counted_day is not null
          for update
     ), uncounted as (
       update gateway_routes route set counted_day = null from counted
        where route.organization_id = ? and route.request_id = ?
     )
     update gateway_account_days days set charges = days.charges - 1, amount = days.amount - ?::numeric
       from counted
      where days.organization_id = ? and days.gateway_account_id = counted.gateway_account_id
        and days.currency = ? and days.day = counted.counted_day`,
    [organizationId, requestId, reference, organizationId, requestId, amount, organizationId, currency],
  )
}

/** Undoes what was written of a request that its account cannot take any more today. */
class OverLimitError extends Error {}

async function enter(
  em: EntityManager,
  { organizationId, requestId }: Charge,
  from: string | null,
  {
    reference,
    account,
    day,
  }: { readonly reference: string; readonly account: string; readonly day: string | null },
): Promise<boolean> {
  const entered =
    from === null
      ? await statement<object>(
          em,
          'enter-gateway-route',
          `insert into gateway_routes (organization_id, request_id, reference, gateway_account_id, counted_day)
           values (?, ?, ?, ?, ?::date) on conflict do nothing returning 1`,
          [organizationId, requestId, reference, account, day],
        )
      : await statement<object>(
          em,
          'move-gateway-route',
          `update gateway_routes set reference = ?, gateway_account_id = ?, counted_day = ?::date
            where organization_id = ? and request_id = ? and reference = ? and not has_ended returning 1`,
          [reference, account, day, organizationId, requestId, from],
        )
  return entered.length > 0
}

/** False if it exceeds the limit of the day. Charges of the account in that currency wait for each other here. */
async function count(
  em: EntityManager,
  { organizationId, currency, amount }: Charge,
  account: string,
  limit: DailyLimit,
  day: string,
): Promise<boolean> {
  const counted = await statement<object>(
    em,
    'count-gateway-charge',
    `with given as (select ?::numeric as amount, ?::int as most_charges, ?::numeric as most_amount)
     insert into gateway_account_days as days (organization_id, gateway_account_id, currency, day, charges, amount)
     select ?, ?, ?, ?::date, 1, given.amount from given
      where coalesce(given.most_charges >= 1, true) and coalesce(given.amount <= given.most_amount, true)
     on conflict (organization_id, gateway_account_id, currency, day) do update
        set charges = days.charges + 1, amount = days.amount + excluded.amount
      where coalesce(days.charges < (select most_charges from given), true)
        and coalesce(days.amount + excluded.amount <= (select most_amount from given), true)
     returning 1`,
    [amount, limit.count, limit.amount, organizationId, account, currency, day],
  )
  return counted.length > 0
}

export interface LastRoute {
  readonly gatewayReference: string
  /** The request goes to no further account. */
  readonly hasEnded: boolean
}

/** Returns where a request was last sent; null: to no account. */
export async function lastRoute(
  em: EntityManager,
  organizationId: string,
  requestId: string,
): Promise<LastRoute | null> {
  const route = await routeOf(em, organizationId, requestId)
  if (route === null || route.reference === null) return null
  return { gatewayReference: route.reference, hasEnded: route.hasEnded }
}

/** Returns who has the last word on a charge that was sent on; empty: the account that it was made for. */
export async function heldBy(
  em: EntityManager,
  { organizationId, gatewayReference }: Pick<Transaction, 'organizationId' | 'gatewayReference'>,
  route: LastRoute | null,
): Promise<Pick<GatewayResult, 'heldBy'>> {
  if (route === null || route.gatewayReference === gatewayReference) return {}
  const { gatewayReference: reference } = route
  const id = splitReference(reference)?.account ?? ''
  const { gatewayName } = await em.findOneOrFail(GatewayAccount, { organizationId, id })
  return { heldBy: { reference, gatewayName } }
}

/** All null if the request was sent to no account. */
async function sentTo(
  em: EntityManager,
  { organizationId, requestId }: Pick<Charge, 'organizationId' | 'requestId'>,
): Promise<SentTo> {
  const { reference, since } = (await routeOf(em, organizationId, requestId)) ?? NOWHERE
  return { reference, since }
}

const NOWHERE: SentTo = { reference: null, since: null }

interface Route {
  readonly reference: string | null
  readonly hasEnded: boolean
  readonly since: number
}

async function routeOf(em: EntityManager, organizationId: string, requestId: string): Promise<Route | null> {
  const [row] = await statement<Route>(
    em,
    'find-gateway-route',
    `select reference, has_ended as "hasEnded", (extract(epoch from created_time) * 1000)::float8 as since
       from gateway_routes where organization_id = ? and request_id = ?`,
    [organizationId, requestId],
  )
  return row ?? null
}
