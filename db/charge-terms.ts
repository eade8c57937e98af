/** What an order is charged by: its instrument, else its customer's default one; and when a declined charge is repeated. */
import { billingSettings } from '../billing/billing-settings.ts'
import { isUsable } from '../billing/cards.ts'
import { type Duration, parseDuration } from '../billing/durations.ts'
import type { OrderTerms } from '../billing/order-terms.ts'
import type { Subscription } from './entities/index.ts'
import type { OrganizationSettings } from './entities/organization.ts'
import { statement } from './statement.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** An instrument as a charge needs it. */
export interface ChargeRoute {
  readonly paymentInstrumentId: string
  readonly gateway: string
  readonly gatewayReference: string
  readonly cardFingerprint: string
}

export interface ChargeTerms extends Pick<OrderTerms, 'canCharge' | 'autopayRetries'> {
  /** null: there is nothing to charge. */
  readonly route: ChargeRoute | null
}

/** How an order stands that is not charged by itself. */
export const UNCHARGED: ChargeTerms = { canCharge: false, autopayRetries: [], route: null }

/** Reads how an order is charged at an instant of its clock: an instrument that is inactive or expired is passed over. */
export async function readChargeTerms(
  { em, organizationId }: UnitOfWork,
  {
    autopay,
    customerId,
    paymentInstrumentId = null,
  }: Pick<Subscription, 'autopay' | 'customerId' | 'paymentInstrumentId'>,
  instant: number,
): Promise<ChargeTerms> {
  if (!autopay) return UNCHARGED
  const found = await statement<{
    settings: OrganizationSettings
    id: string | null
    gateway: string
    gateway_reference: string
    card_fingerprint: string
    status: string
    exp_month: number
    exp_year: number
  }>(
    em,
    `select organization.settings, instrument.id, instrument.gateway, instrument.gateway_reference,
            instrument.card_fingerprint, instrument.status, instrument.exp_month, instrument.exp_year
       from organizations organization
       left join customers customer on customer.organization_id = organization.id and customer.id = ?
       left join payment_instruments instrument
         on instrument.organization_id = organization.id and instrument.customer_id = customer.id
        and instrument.id in (?, customer.default_payment_instrument_id)
      where organization.id = ?
      order by instrument.id = ? desc nulls last`,
    [customerId, paymentInstrumentId, organizationId, paymentInstrumentId],
  )
  const usable = found.find(
    ({ id, status, exp_month: expMonth, exp_year: expYear }) =>
      id !== null && isUsable({ status, expMonth, expYear }, instant),
  )
  return {
    canCharge: usable !== undefined,
    autopayRetries: retriesOf(found[0]?.settings),
    route:
      usable === undefined
        ? null
        : {
            paymentInstrumentId: usable.id ?? '',
            gateway: usable.gateway,
            gatewayReference: usable.gateway_reference,
            cardFingerprint: usable.card_fingerprint,
          },
  }
}

function retriesOf(settings: OrganizationSettings | undefined): Duration[] {
  return billingSettings(settings?.billing).autopayRetries.flatMap((text) => parseDuration(text) ?? [])
}
