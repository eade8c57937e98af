import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

export interface Metrics {
  readonly registry: Registry
  /** Seconds. */
  readonly requests: Histogram<'operation' | 'method' | 'status'>
  /** By `delivered` or the reason of the failure. */
  readonly deliveryAttempts: Counter<'outcome'>
  /** Payments whose outcome stayed unknown for a month: each needs an operator. */
  readonly unresolvedPayments: Counter
  readonly unpaidRefunds: Counter
  /** Records more than five seconds late that the sweep handled; docs/metrics.md says what that can mean. */
  readonly late: Counter<'workflow'>
  /** Each needs an operator. */
  readonly quarantines: Counter<'workflow'>
  readonly notifications: Counter<'outcome'>
  /** Requests that were answered and not logged, because too many waited or could not be stored. */
  readonly untrackedRequests: Counter
  /** Removals of expired rows; repeated until one succeeds. */
  readonly failedRemovals: Counter
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    requests: new Histogram({
      name: 'billing_http_request_duration_seconds',
      help: 'Duration of API requests.',
      labelNames: ['operation', 'method', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    }),
    deliveryAttempts: new Counter({
      name: 'billing_webhook_attempts_total',
      help: 'Webhook delivery attempts, retries and resends, by outcome.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    unresolvedPayments: new Counter({
      name: 'billing_payments_unresolved_total',
      help: 'Payments whose outcome the gateway did not report within 31 days.',
      registers: [registry],
    }),
    unpaidRefunds: new Counter({
      name: 'billing_refunds_unpaid_total',
      help: 'Refunds the service owes that the gateway declined every time: an operator has to pay them otherwise.',
      registers: [registry],
    }),
    late: new Counter({
      name: 'billing_late_total',
      help: 'Records more than five seconds late that the sweep took care of, by workflow.',
      labelNames: ['workflow'],
      registers: [registry],
    }),
    quarantines: new Counter({
      name: 'billing_quarantines_total',
      help: 'Records set aside because advancing them failed, by workflow.',
      labelNames: ['workflow'],
      registers: [registry],
    }),
    notifications: new Counter({
      name: 'billing_gateway_notifications_total',
      help: 'Notifications of payment providers by outcome: received, repeated or refused by the API; applied, ignored, superseded, deferred or failed in the worker.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    untrackedRequests: new Counter({
      name: 'billing_api_requests_untracked_total',
      help: 'API requests that the log of requests (tracking/api) does not have.',
      registers: [registry],
    }),
    failedRemovals: new Counter({
      name: 'billing_removals_failed_total',
      help: 'Daily removals of expired rows that failed.',
      registers: [registry],
    }),
  }
}

/** Adds the series of a counter at 0: of one that appears with the first count, `increase()` does not see that count. */
export function countFromZero<Label extends string>(
  counter: Counter<Label>,
  label: Label,
  values: readonly string[],
): void {
  for (const value of values) counter.inc({ [label]: value } as Record<Label, string>, 0)
}
