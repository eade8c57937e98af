/**
 * Names, ids, the signal, arguments and results that operators, the relay and the workflows share. Changing a name
 * breaks running executions; the file imports nothing, so that everything may import it.
 */

export const WORKFLOW_NAMES = [
  'subscription',
  'token-expiry',
  'transaction',
  'webhook-delivery',
  'dispute-deadline',
  'coupon',
] as const
export type WorkflowName = (typeof WORKFLOW_NAMES)[number]

/** The only signal: the record changed. A lost, repeated or reordered signal does no harm. */
export const CHANGED_SIGNAL = 'changed'

export function workflowId(workflow: WorkflowName, organizationId: string, recordId: string): string {
  return `${workflow}/${organizationId}/${recordId}`
}

/** Returns the record of an execution, or null if the id has another form. */
export function recordOf(id: string): (RecordKey & { readonly workflow: WorkflowName }) | null {
  const [name, organizationId, recordId, ...rest] = id.split('/')
  const workflow = WORKFLOW_NAMES.find((known) => known === name)
  if (workflow === undefined || !organizationId || !recordId || rest.length > 0) return null
  return { workflow, organizationId, recordId }
}

/** Returns the task queue of workflows and database activities. */
export function taskQueue(installationId: string): string {
  return `billing-${installationId}`
}

/** Suffixes of the additional queues, each with its own slots: webhook attempts and payment gateway calls. */
export const HTTP_QUEUE_SUFFIX = '-http'
export const GATEWAY_QUEUE_SUFFIX = '-gateway'

export interface RecordKey {
  readonly organizationId: string
  readonly recordId: string
}

/** Argument of every workflow. Only ids enter workflows. */
export interface WorkflowInput extends RecordKey {
  /** How far the record's clock led the execution's at the start of the run, in milliseconds; from continue-as-new. */
  readonly base?: number
}

export interface AdvanceInput extends RecordKey {
  /** The workflow's clock, in milliseconds. */
  readonly clock: number
  /** Added to `clock`, it gives the record's instant. Null on the first call of a run: the row's own base applies. */
  readonly base: number | null
}

export interface AdvanceResult {
  /** The record's next deadline on its own clock, or null if nothing will become due by itself. */
  readonly next: number | null
  readonly base: number
  /** True if the payment gateway must be called before the record can advance further. */
  readonly gatewayCallDue?: boolean
  readonly visibility: Visibility | null
}

export interface Visibility {
  /** Current details: one or two sentences in Markdown. */
  readonly details: string
  /** Summary of the timer that starts next. */
  readonly timer: string
  readonly attributes: SearchAttributes
}

/** Search attributes by name; null removes the value. */
export type SearchAttributes = Readonly<Record<SearchAttributeName, string | null>>

/** Search attributes that the worker registers in its namespace. */
export const SEARCH_ATTRIBUTES = {
  BillingOrganization: 'KEYWORD',
  BillingCustomer: 'KEYWORD',
  BillingWebhook: 'KEYWORD',
  BillingStatus: 'KEYWORD',
  BillingNextDeadline: 'DATETIME',
} as const
export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES

/** Returns the search attributes of a record's execution; what a record does not have is removed. */
export function searchAttributesOf(record: {
  readonly organizationId: string
  readonly status: string | null
  /** ISO 8601. */
  readonly nextDeadline: string | null
  readonly customerId?: string | null | undefined
  readonly webhookId?: string | null | undefined
}): SearchAttributes {
  return {
    BillingOrganization: record.organizationId,
    BillingCustomer: record.customerId ?? null,
    BillingWebhook: record.webhookId ?? null,
    BillingStatus: record.status,
    BillingNextDeadline: record.nextDeadline,
  }
}
