/**
 * The life cycle of an order as a pure function of the order and an instant.
 *
 * `settleOrder` says what has become due through an instant, in order, and when to look again. It knows no clock and no
 * database: the timer, the API and the sweep all ask it, so that being early, late or repeated gives the same record.
 */

export type OrderStatus =
  | 'pending'
  | 'active'
  | 'abandoned'
  | 'canceled'
  | 'churned'
  | 'paused'
  | 'voided'
  | 'completed'
  | 'trial-ended'

/** What the rules read of an order. Instants in milliseconds; null where there is none. */
export interface OrderState {
  readonly status: OrderStatus
  readonly createdTime: number
  readonly startTime: number
  readonly abandonTime: number | null
  readonly activationTime: number | null
}

export interface OrderTransition {
  readonly at: number
  readonly to: OrderStatus
  readonly event: 'subscription-activated' | 'order-abandoned'
}

export interface Settlement {
  readonly state: OrderState
  /** What happened, oldest first. */
  readonly transitions: readonly OrderTransition[]
  /** The next instant at which something becomes due; null when nothing ever will. */
  readonly next: number | null
}

/** Everything due through `instant`, inclusive. At one instant a start comes before an abandonment. */
export function settleOrder(order: OrderState, instant: number): Settlement {
  const transitions: OrderTransition[] = []
  let state = order
  for (;;) {
    const due = nextTransition(state)
    if (due === null || due.at > instant) return { state, transitions, next: due === null ? null : due.at }
    transitions.push(due)
    state = {
      ...state,
      status: due.to,
      activationTime: due.to === 'active' ? due.at : state.activationTime,
    }
  }
}

function nextTransition(state: OrderState): OrderTransition | null {
  if (state.status !== 'pending') return null
  if (state.abandonTime !== null && state.abandonTime < state.startTime) {
    return { at: state.abandonTime, to: 'abandoned', event: 'order-abandoned' }
  }
  // A start in the past is served from the past, but nothing happens before the order exists.
  return { at: Math.max(state.startTime, state.createdTime), to: 'active', event: 'subscription-activated' }
}
