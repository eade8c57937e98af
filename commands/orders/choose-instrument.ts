import { billingSettings, reminderTerms } from '../../billing/billing-settings.ts'
import { isUsable } from '../../billing/cards.ts'
import type { Contact } from '../../billing/contacts.ts'
import { instrumentFor } from '../../billing/dunning.ts'
import { parseDuration } from '../../billing/durations.ts'
import type { Invoice } from '../../billing/invoices.ts'
import type { Order } from '../../billing/order.ts'
import { type AutopayTerms, NO_REMINDERS, NOT_CHARGED, type OrderTerms } from '../../billing/order-terms.ts'
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
  /** True if nobody chose it for what it is charged for: it stands for another one. */
  readonly isBackup: boolean
}

export interface ChargeTerms extends AutopayTerms, Pick<OrderTerms, 'reminders'> {
  /** null: nothing is taxed. */
  readonly taxes: TaxSchedule | null
  /** null: no instrument can be charged. */
  readonly route: ChargeRoute | null
  /** Of the instruments that are charged where that one was declined for good (ADR 91). */
  readonly backups: readonly ChargeRoute[]
}

/** Of the instrument that is charged for an invoice. */
export function routeFor(
  { route, backups }: ChargeTerms,
  order: Pick<Order, 'terms'>,
  invoice: Pick<Invoice, 'declines'>,
): ChargeRoute | null {
  const chosen = instrumentFor(order, invoice)
  return backups.find(({ paymentInstrumentId }) => paymentInstrumentId === chosen) ?? route
}

export const UNCHARGED: ChargeTerms = {
  ...NOT_CHARGED,
  reminders: NO_REMINDERS,
  taxes: null,
  route: null,
  backups: [],
}

/**
 * At an instant of the orders' clocks: the order's own instrument, else the customer's default, else one of the
 * customer's backups for these. An instrument whose card has expired is chosen if there is no other.
 */
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
            instrument.exp_year, instrument.bin, instrument.billing_address,
            instrument.id in (given."paymentInstrumentId", customer.default_payment_instrument_id) as is_preferred,
            instrument.use_as_backup and instrument.status = 'active' as is_backup,
            customer.is_default_deactivated
       from jsonb_to_recordset(?::jsonb) as given ("subscriptionId" text, "customerId" text, "paymentInstrumentId" text)
       join organizations organization on organization.id = ?
       left join customers customer
         on customer.organization_id = organization.id and customer.id = given."customerId"
       left join payment_instruments instrument
         on instrument.organization_id = organization.id and instrument.customer_id = customer.id
        and (instrument.id in (given."paymentInstrumentId", customer.default_payment_instrument_id)
             or instrument.use_as_backup and instrument.status = 'active')
      order by instrument.id = given."paymentInstrumentId" desc nulls last,
               instrument.id = customer.default_payment_instrument_id desc nulls last, instrument.created_time, instrument.id`,
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
  readonly is_preferred: boolean
  readonly is_backup: boolean
  readonly is_default_deactivated: boolean | null
}

/** `rows`: the organization with each candidate instrument: the order's own, the customer's default, backups. */
function termsOf(
  [first, ...others]: readonly InstrumentRow[],
  instant: number,
): Omit<ChargeTerms, 'reminders' | 'taxes'> {
  // A backup stands for an instrument, and is not charged where none was ever chosen.
  const wasChosen = first?.is_preferred === true || first?.is_default_deactivated === true
  const rows = wasChosen ? [first, ...others] : []
  const usable = rows.filter(({ status, exp_month: expMonth, exp_year: expYear }) =>
    isUsable({ status, expMonth, expYear }, instant),
  )
  const expired = rows.find(({ status }) => status === 'active' || status === 'expired')
  const chosen = usable[0] ?? expired
  // The customer's default may be one for an order with an instrument of its own.
  const backups = usable.filter((row) => row !== chosen && row.is_backup)
  const routeTo = (row: InstrumentRow) =>
    routeOf(row, { isExpired: usable.length === 0, isBackup: row !== first || !row.is_preferred })
  return {
    canCharge: chosen !== undefined,
    instrumentId: chosen?.id ?? null,
    backupIds: backups.flatMap(({ id }) => id ?? []),
    ...dunningOf(first?.settings),
    route: chosen === undefined ? null : routeTo(chosen),
    backups: backups.map(routeTo),
  }
}

function routeOf(row: InstrumentRow, how: Pick<ChargeRoute, 'isExpired' | 'isBackup'>): ChargeRoute {
  return {
    paymentInstrumentId: row.id ?? '',
    gateway: row.gateway,
    gatewayReference: row.gateway_reference,
    cardFingerprint: row.card_fingerprint,
    bin: row.bin,
    billingAddress: row.billing_address,
    ...how,
  }
}

function dunningOf(
  settings: OrganizationSettings | undefined,
): Pick<OrderTerms, 'autopayRetries' | 'paydays' | 'declinedRenewalsLimit'> {
  const { autopayRetries, paydays, declinedRenewalsLimit } = billingSettings(settings?.billing)
  const retries = autopayRetries.flatMap((text) => parseDuration(text) ?? [])
  return { autopayRetries: retries, paydays, declinedRenewalsLimit }
}
