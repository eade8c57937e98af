import { billingSettings, reminderTerms } from '../../billing/billing-settings.ts'
import { isUsable } from '../../billing/cards.ts'
import type { Contact } from '../../billing/contacts.ts'
import { parseDuration } from '../../billing/durations.ts'
import { NO_REMINDERS, type OrderTerms } from '../../billing/order-terms.ts'
import type { TaxSchedule } from '../../billing/taxes.ts'
import type { Subscription } from '../../db/entities/index.ts'
import type { OrganizationSettings } from '../../db/entities/organization.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { isTaxed, readTaxes, type TaxedOrder } from './order-taxes.ts'

export interface ChargeRoute {
  readonly paymentInstrumentId: string
  readonly gateway: string
  readonly gatewayReference: string
  readonly cardFingerprint: string
  readonly bin: string | null
  readonly billingAddress: Contact | null
  /** True if its card has expired: a charge is declined without a request. */
  readonly isExpired: boolean
}

export interface ChargeTerms
  extends Pick<
    OrderTerms,
    'canCharge' | 'instrumentId' | 'autopayRetries' | 'paydays' | 'declinedRenewalsLimit' | 'reminders'
  > {
  /** null: nothing is taxed. */
  readonly taxes: TaxSchedule | null
  /** null: no instrument can be charged. */
  readonly route: ChargeRoute | null
}

export const UNCHARGED: ChargeTerms = {
  canCharge: false,
  instrumentId: null,
  autopayRetries: [],
  paydays: [],
  declinedRenewalsLimit: null,
  reminders: NO_REMINDERS,
  taxes: null,
  route: null,
}

/** At an instant of the orders' clocks. An instrument whose card has expired is chosen if there is no other. */
export async function readChargeTerms(
  { em, organizationId }: UnitOfWork,
  orders: readonly (Pick<Subscription, 'autopay' | 'paymentInstrumentId'> & TaxedOrder)[],
  instant: number,
): Promise<ReadonlyMap<string, ChargeTerms>> {
  if (orders.length === 0) return new Map()
  const found = await statement<
    InstrumentRow & { readonly subscription_id: string; readonly is_taxed: boolean }
  >(
    em,
    'read-charge-terms',
    `select given."subscriptionId" as subscription_id, organization.settings, ${isTaxed('organization')} as is_taxed,
            instrument.id, instrument.gateway,
            instrument.gateway_reference, instrument.card_fingerprint, instrument.status, instrument.exp_month,
            instrument.exp_year, instrument.bin, instrument.billing_address
       from jsonb_to_recordset(?::jsonb) as given ("subscriptionId" text, "customerId" text, "paymentInstrumentId" text)
       join organizations organization on organization.id = ?
       left join customers customer
         on customer.organization_id = organization.id and customer.id = given."customerId"
       left join payment_instruments instrument
         on instrument.organization_id = organization.id and instrument.customer_id = customer.id
        and instrument.id in (given."paymentInstrumentId", customer.default_payment_instrument_id)
      order by instrument.id = given."paymentInstrumentId" desc nulls last`,
    [
      JSON.stringify(
        orders.map(({ id: subscriptionId, autopay, customerId, paymentInstrumentId = null }) => ({
          subscriptionId,
          customerId: autopay ? customerId : null,
          paymentInstrumentId,
        })),
      ),
      organizationId,
    ],
  )
  const taxes = found[0]?.is_taxed === true ? await readTaxes({ em, organizationId }, orders) : null
  const byOrder = Map.groupBy(found, ({ subscription_id }) => subscription_id)
  return new Map(
    orders.map(({ id, autopay }) => {
      const rows = byOrder.get(id) ?? []
      const reminders = reminderTerms(rows[0]?.settings.billing)
      const terms = autopay ? termsOf(rows, instant) : UNCHARGED
      return [id, { ...terms, reminders, taxes: taxes?.get(id) ?? null }]
    }),
  )
}

interface InstrumentRow {
  readonly settings: OrganizationSettings
  readonly id: string | null
  readonly gateway: string
  readonly gateway_reference: string
  readonly card_fingerprint: string
  readonly status: string
  readonly exp_month: number
  readonly exp_year: number
  readonly bin: string | null
  readonly billing_address: Contact | null
}

/** `rows`: the organization with each candidate instrument, the order's own first. */
function termsOf(rows: readonly InstrumentRow[], instant: number): Omit<ChargeTerms, 'reminders' | 'taxes'> {
  const usable = rows.find(
    ({ id, status, exp_month: expMonth, exp_year: expYear }) =>
      id !== null && isUsable({ status, expMonth, expYear }, instant),
  )
  const expired = rows.find(({ id, status }) => id !== null && (status === 'active' || status === 'expired'))
  const chosen = usable ?? expired
  return {
    canCharge: chosen !== undefined,
    instrumentId: chosen?.id ?? null,
    ...dunningOf(rows[0]?.settings),
    route:
      chosen === undefined
        ? null
        : {
            paymentInstrumentId: chosen.id ?? '',
            gateway: chosen.gateway,
            gatewayReference: chosen.gateway_reference,
            cardFingerprint: chosen.card_fingerprint,
            bin: chosen.bin,
            billingAddress: chosen.billing_address,
            isExpired: usable === undefined,
          },
  }
}

function dunningOf(
  settings: OrganizationSettings | undefined,
): Pick<OrderTerms, 'autopayRetries' | 'paydays' | 'declinedRenewalsLimit'> {
  const { autopayRetries, paydays, declinedRenewalsLimit } = billingSettings(settings?.billing)
  const retries = autopayRetries.flatMap((text) => parseDuration(text) ?? [])
  return { autopayRetries: retries, paydays, declinedRenewalsLimit }
}
