/** The settings of an organization that hold for every order without its own. */

import { parseDuration } from './durations.ts'
import type { ReminderTerms } from './order-terms.ts'

export interface Reminders {
  readonly renewal: readonly string[]
  readonly trialEnd: readonly string[]
  readonly abandon: readonly string[]
}

/** ISO 8601 durations, validated when they were stored. */
export interface BillingSettings {
  /** From the later of creation and start; null: pending orders are never abandoned. */
  readonly pendingOrderTtl: string | null
  readonly reminders: Reminders
  readonly autopayRetries: readonly string[]
  /** Days of the month, 1 to 31; a shorter month uses its last day. */
  readonly paydays: readonly number[]
  /** Renewals declined in a row after which the instrument is no longer charged; null: no limit. */
  readonly declinedRenewalsLimit: number | null
}

export type GivenBillingSettings = Optional<Omit<BillingSettings, 'reminders'>> & {
  readonly reminders?: Optional<Reminders> | undefined
}

export function reminderTerms(given: GivenBillingSettings | undefined): ReminderTerms {
  const { renewal, trialEnd, abandon } = billingSettings(given).reminders
  const durations = (texts: readonly string[]) => texts.flatMap((text) => parseDuration(text) ?? [])
  return { renewal: durations(renewal), trialEnd: durations(trialEnd), abandon: durations(abandon) }
}

type Optional<T> = { readonly [Member in keyof T]?: T[Member] | undefined }

export const DEFAULT_BILLING_SETTINGS: BillingSettings = {
  pendingOrderTtl: null,
  reminders: { renewal: [], trialEnd: [], abandon: [] },
  autopayRetries: ['P1D', 'P3D', 'P5D'],
  paydays: [],
  declinedRenewalsLimit: 3,
}

export function billingSettings(given: GivenBillingSettings = {}): BillingSettings {
  const { pendingOrderTtl, reminders, autopayRetries, paydays, declinedRenewalsLimit } =
    DEFAULT_BILLING_SETTINGS
  return {
    pendingOrderTtl: given.pendingOrderTtl ?? pendingOrderTtl,
    reminders: {
      renewal: given.reminders?.renewal ?? reminders.renewal,
      trialEnd: given.reminders?.trialEnd ?? reminders.trialEnd,
      abandon: given.reminders?.abandon ?? reminders.abandon,
    },
    autopayRetries: given.autopayRetries ?? autopayRetries,
    paydays: given.paydays ?? paydays,
    declinedRenewalsLimit:
      given.declinedRenewalsLimit === undefined ? declinedRenewalsLimit : given.declinedRenewalsLimit,
  }
}
