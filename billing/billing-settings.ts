/** What an organization decides for all of its orders, where an order does not say otherwise. */

/** Durations before an event at which its customer is reminded of it. */
export interface Reminders {
  readonly renewal: readonly string[]
  readonly trialEnd: readonly string[]
  readonly abandon: readonly string[]
}

/** Durations are texts as the API writes them, checked when they were stored. */
export interface BillingSettings {
  /** How long after the later of creation and start a pending order is abandoned; null: never. */
  readonly pendingOrderTtl: string | null
  readonly reminders: Reminders
  /** When an invoice whose charge was declined is charged again, each counted from the first decline. */
  readonly autopayRetries: readonly string[]
}

/** Settings of which some were never set. */
export type GivenBillingSettings = Optional<Omit<BillingSettings, 'reminders'>> & {
  readonly reminders?: Optional<Reminders> | undefined
}

type Optional<T> = { readonly [Member in keyof T]?: T[Member] | undefined }

export const DEFAULT_BILLING_SETTINGS: BillingSettings = {
  pendingOrderTtl: null,
  reminders: { renewal: [], trialEnd: [], abandon: [] },
  autopayRetries: ['P1D', 'P3D', 'P5D'],
}

/** Settings as they hold: defaults stand in for what was never set. */
export function billingSettings(given: GivenBillingSettings = {}): BillingSettings {
  const { pendingOrderTtl, reminders, autopayRetries } = DEFAULT_BILLING_SETTINGS
  return {
    pendingOrderTtl: given.pendingOrderTtl ?? pendingOrderTtl,
    reminders: {
      renewal: given.reminders?.renewal ?? reminders.renewal,
      trialEnd: given.reminders?.trialEnd ?? reminders.trialEnd,
      abandon: given.reminders?.abandon ?? reminders.abandon,
    },
    autopayRetries: given.autopayRetries ?? autopayRetries,
  }
}
