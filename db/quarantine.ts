import type { EntityManager } from '@mikro-orm/postgresql'
import { type RecordKey, WORKFLOW_NAMES, type WorkflowName } from '../workflows/contract.ts'
import { statement } from './statement.ts'

const TABLES: Readonly<Record<WorkflowName, string>> = {
  subscription: 'subscriptions',
  'token-expiry': 'payment_tokens',
  transaction: 'transactions',
  'webhook-delivery': 'deliveries',
  'dispute-deadline': 'disputes',
  coupon: 'coupons',
  invoice: 'invoices',
}

/** SQL: a minute after the first failure, twice as long after each further one, at most an hour. `count`: those before. */
export function growingWait(count: string): string {
  return `least(3600, 60 * 2 ^ least(${count}, 20)) * interval '1 second'`
}

export interface QuarantinedRecord extends RecordKey {
  readonly workflow: WorkflowName
  readonly count: number
  readonly reason: string
  readonly until: Date
}

/** Returns when the record is advanced again; null: it does not exist. */
export async function quarantineRecord(
  em: EntityManager,
  workflow: WorkflowName,
  { organizationId, recordId }: RecordKey,
  reason: string,
): Promise<Date | null> {
  const [row] = await statement<{ until: Date | string }>(
    em,
    `quarantine-${workflow}`,
    `update ${TABLES[workflow]} set quarantine_count = quarantine_count + 1, quarantine_reason = ?,
            quarantined_until = now() + ${growingWait('quarantine_count')}
      where organization_id = ? and id = ? returning quarantined_until as until`,
    [reason.replaceAll('\u0000', '').slice(0, 500), organizationId, recordId],
  )
  return row === undefined ? null : new Date(row.until)
}

/** For a record that advanced, or that an operator releases. True if it was quarantined. */
export async function endQuarantine(
  em: EntityManager,
  workflow: WorkflowName,
  { organizationId, recordId }: RecordKey,
): Promise<boolean> {
  const rows = await statement<object>(
    em,
    `end-quarantine-${workflow}`,
    `update ${TABLES[workflow]} set quarantine_count = 0, quarantine_reason = null, quarantined_until = null
      where organization_id = ? and id = ? and quarantined_until is not null returning 1`,
    [organizationId, recordId],
  )
  return rows.length > 0
}

/** For an operator: wakes the record's workflow too. True if it was quarantined. */
export async function releaseRecord(
  em: EntityManager,
  workflow: WorkflowName,
  key: RecordKey,
): Promise<boolean> {
  if (!(await endQuarantine(em, workflow, key))) return false
  await statement(
    em,
    'wake-released-record',
    'insert into wake_ups (workflow, organization_id, record_id, due_by) values (?, ?, ?, now())',
    [workflow, key.organizationId, key.recordId],
  )
  return true
}

export async function quarantinedRecords(em: EntityManager): Promise<QuarantinedRecord[]> {
  const rows = await statement<Omit<QuarantinedRecord, 'until'> & { until: Date | string }>(
    em,
    'quarantined-records',
    WORKFLOW_NAMES.map(
      (workflow) =>
        `select '${workflow}' as workflow, organization_id as "organizationId", id as "recordId", quarantine_count as count,
                quarantine_reason as reason, quarantined_until as until
           from ${TABLES[workflow]} where quarantined_until is not null`,
    ).join(' union all '),
  )
  return rows
    .map((row) => ({ ...row, until: new Date(row.until) }))
    .sort((a, b) => a.until.getTime() - b.until.getTime())
}

/** A provider's notification that has failed: it is not a record with a workflow, and a loop processes it. */
export interface NotificationKey {
  readonly organizationId: string
  readonly gatewayAccountId: string
  /** The provider's. */
  readonly id: string
}

export interface QuarantinedNotification extends NotificationKey {
  readonly count: number
  readonly reason: string
  readonly until: Date
}

export async function quarantinedNotifications(em: EntityManager): Promise<QuarantinedNotification[]> {
  const rows = await statement<Omit<QuarantinedNotification, 'until'> & { until: Date | string }>(
    em,
    'quarantined-notifications',
    `select organization_id as "organizationId", gateway_account_id as "gatewayAccountId", id, failures as count,
            failure as reason, due_time as until
       from gateway_notifications where status = 'received' and failures > 0 order by due_time`,
  )
  return rows.map((row) => ({ ...row, until: new Date(row.until) }))
}

/** Has a notification processed again at once. False if it is not quarantined. */
export async function releaseNotification(
  em: EntityManager,
  { organizationId, gatewayAccountId, id }: NotificationKey,
): Promise<boolean> {
  const rows = await statement<object>(
    em,
    'release-notification',
    `update gateway_notifications set failures = 0, failure = null, due_time = date_trunc('milliseconds', now())
      where organization_id = ? and gateway_account_id = ? and id = ? and status = 'received' and failures > 0
      returning 1`,
    [organizationId, gatewayAccountId, id],
  )
  return rows.length > 0
}
