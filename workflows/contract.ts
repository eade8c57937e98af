/**
 * What operators, the relay and the workflows agree on: names, ids, the signal, arguments and results.
 *
 * Importable from anywhere: it imports nothing. Changing a name here breaks running executions.
 */

export const WORKFLOW_NAMES = [
  'subscription',
  'token-expiry',
  'transaction',
  'webhook-delivery',
  'dispute-deadline',
] as const
export type WorkflowName = (typeof WORKFLOW_NAMES)[number]

/** The one message: the record changed, look again. Lost, doubled or reordered ones do no harm. */
export const CHANGED_SIGNAL = 'changed'

/** The execution that follows a record. */
export function workflowId(workflow: WorkflowName, organizationId: string, recordId: string): string {
  return `${workflow}/${organizationId}/${recordId}`
}

/** Task queue of workflows and database activities; HTTP activities have one of their own beside it. */
export function taskQueue(installationId: string): string {
  return `billing-${installationId}`
}

/** What the HTTP activities' queue appends to the name of the other. */
export const HTTP_QUEUE_SUFFIX = '-http'

/** Argument of every workflow. Only ids cross into workflows. */
export interface FollowInput {
  readonly organizationId: string
  readonly recordId: string
  /** Clock of the record when the run began, in milliseconds ahead of real time; set by continue-as-new. */
  readonly base?: number
  /** What was read of the record before the execution was started, as settling would have found it; labels are set already. */
  readonly seen?: SettleResult
}

/** Argument of a settle activity. */
export interface SettleInput {
  readonly organizationId: string
  readonly recordId: string
  /** The workflow's clock, in milliseconds. */
  readonly clock: number
  /** Added to `clock` it gives the record's instant; null on the first call of a run: the row's own. */
  readonly base: number | null
}

/** What a settle activity found. */
export interface SettleResult {
  /** The instant to look again at, on the record's clock; null: nothing will ever be due by itself. */
  readonly next: number | null
  readonly base: number
  /** Whether the gateway has to be asked something before looking again. */
  readonly calls?: boolean
  readonly labels: Labels | null
}

/** What operators see of an execution. */
export interface Labels {
  /** Current details: a sentence or two in Markdown. */
  readonly details: string
  /** Summary of the timer that is about to start. */
  readonly timer: string
  /** Search attributes by name. */
  readonly attributes: Readonly<Record<SearchAttributeName, string | null>>
}

/** Search attributes the worker registers in its namespace. */
export const SEARCH_ATTRIBUTES = {
  BillingOrganization: 'KEYWORD',
  BillingCustomer: 'KEYWORD',
  BillingWebhook: 'KEYWORD',
  BillingStatus: 'KEYWORD',
  BillingNextDeadline: 'DATETIME',
} as const
export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES
