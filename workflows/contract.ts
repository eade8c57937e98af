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

/** The one message: the record changed. Lost, doubled or reordered signals do no harm. */
export const CHANGED_SIGNAL = 'changed'

/** The id of the execution of a record. */
export function workflowId(workflow: WorkflowName, organizationId: string, recordId: string): string {
  return `${workflow}/${organizationId}/${recordId}`
}

/** The record of an execution; null for an id of another form. */
export function recordOf(id: string): (RecordKey & { readonly workflow: WorkflowName }) | null {
  const [name, organizationId, recordId, ...rest] = id.split('/')
  const workflow = WORKFLOW_NAMES.find((known) => known === name)
  if (workflow === undefined || !organizationId || !recordId || rest.length > 0) return null
  return { workflow, organizationId, recordId }
}

/** Task queue of workflows and database activities. */
export function taskQueue(installationId: string): string {
  return `billing-${installationId}`
}

/** Suffixes of the queues beside it: webhook attempts, and calls of the payment gateway, each with slots of its own. */
export const HTTP_QUEUE_SUFFIX = '-http'
export const GATEWAY_QUEUE_SUFFIX = '-gateway'

export interface RecordKey {
  readonly organizationId: string
  readonly recordId: string
}

/** Argument of every workflow. Only ids cross into workflows. */
export interface WorkflowInput extends RecordKey {
  /** How far the record's clock was ahead of the execution's when the run began, in milliseconds; set by continue-as-new. */
  readonly base?: number
}

/** Argument of every activity. */
export interface AdvanceInput extends RecordKey {
  /** The workflow's clock, in milliseconds. */
  readonly clock: number
  /** Added to `clock` it gives the record's instant; null on the first call of a run: the row's own. */
  readonly base: number | null
}

/** Result of advancing a record. */
export interface AdvanceResult {
  /** The record's next deadline, on its own clock; null: nothing will ever be due by itself. */
  readonly next: number | null
  readonly base: number
  /** Whether the payment gateway has to be called before the record can advance further. */
  readonly gatewayCallDue?: boolean
  readonly visibility: Visibility | null
}

/** What operators see of an execution. */
export interface Visibility {
  /** Current details: a sentence or two in Markdown. */
  readonly details: string
  /** Summary of the timer that is about to start. */
  readonly timer: string
  readonly attributes: SearchAttributes
}

/** Search attributes by name; null: none. */
export type SearchAttributes = Readonly<Record<SearchAttributeName, string | null>>

/** Search attributes the worker registers in its namespace. */
export const SEARCH_ATTRIBUTES = {
  BillingOrganization: 'KEYWORD',
  BillingCustomer: 'KEYWORD',
  BillingWebhook: 'KEYWORD',
  BillingStatus: 'KEYWORD',
  BillingNextDeadline: 'DATETIME',
} as const
export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES
