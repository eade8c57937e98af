/** Changing a name breaks running executions. The file imports nothing, so that everything may import it. */

export const WORKFLOW_NAMES = [
  'subscription',
  'token-expiry',
  'transaction',
  'webhook-delivery',
  'dispute-deadline',
  'coupon',
  'invoice',
] as const
export type WorkflowName = (typeof WORKFLOW_NAMES)[number]

/** The only signal: the record changed. A lost, repeated or reordered signal does no harm. */
export const CHANGED_SIGNAL = 'changed'

export function workflowId(workflow: WorkflowName, organizationId: string, recordId: string): string {
  return `${workflow}/${organizationId}/${recordId}`
}

export function recordOf(id: string): (RecordKey & { readonly workflow: WorkflowName }) | null {
  const [name, organizationId, recordId, ...rest] = id.split('/')
  const workflow = WORKFLOW_NAMES.find((known) => known === name)
  if (workflow === undefined || !organizationId || !recordId || rest.length > 0) return null
  return { workflow, organizationId, recordId }
}

export function taskQueue(installationId: string): string {
  return `billing-${installationId}`
}

/** Additional queues, each with its own slots: webhook attempts and payment gateway calls. */
export const HTTP_QUEUE_SUFFIX = '-http'
export const GATEWAY_QUEUE_SUFFIX = '-gateway'

export interface RecordKey {
  readonly organizationId: string
  readonly recordId: string
}

/** Runs that began before the limit was part of their input have this one. */
export const LONGEST_HISTORY = 500

/**
 * Returns after how many events a run continues as new. An execution that no worker has in memory is replayed at its
 * next deadline, which costs half a millisecond of CPU per event; a new run costs about as much as fifty events. Orders
 * live for years; everything else ends within weeks, and stays in one run for operators to read.
 */
export function longestHistory(workflow: string): number {
  return workflow === 'subscription' ? 60 : LONGEST_HISTORY
}

/** Only ids enter workflows, and what must not change while a run is replayed. */
export interface WorkflowInput extends RecordKey {
  readonly longestHistory?: number
  /** Milliseconds by which the record's clock led the execution's as the run began; from continue-as-new. */
  readonly base?: number
}

export interface AdvanceInput extends RecordKey {
  readonly clock: number
  /** Added to `clock`, it gives the record's instant. Null on the first call of a run: the row's base applies. */
  readonly base: number | null
}

export interface AdvanceResult {
  /** On the record's own clock; null if nothing will become due by itself. */
  readonly next: number | null
  readonly base: number
  /** True if the payment gateway must be called before the record can advance further. */
  readonly gatewayCallDue?: boolean
  readonly visibility: Visibility | null
}

export interface Visibility {
  /** One or two sentences in Markdown. */
  readonly details: string
  readonly timer: string
  readonly attributes: SearchAttributes
}

/** Null removes the value. */
export type SearchAttributes = Readonly<Record<SearchAttributeName, string | null>>

export const SEARCH_ATTRIBUTES = {
  BillingOrganization: 'KEYWORD',
  BillingCustomer: 'KEYWORD',
  BillingWebhook: 'KEYWORD',
  BillingStatus: 'KEYWORD',
  BillingNextDeadline: 'DATETIME',
} as const
export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES

/** What a record does not have is removed from its execution. */
export function searchAttributesOf(record: {
  readonly organizationId: string
  readonly status: string | null
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
