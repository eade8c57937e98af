import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { Migration } from '@mikro-orm/migrations'
import pg from 'pg'
import { ulid } from 'ulid'
import { agreedTerms } from '../../billing/order-terms.ts'
import { orderChoices } from '../../commands/orders/rows-to-order.ts'
import { MAINTENANCE_TIMEOUTS } from '../../db/connection.ts'
import { Organization, type Subscription } from '../../db/entities/index.ts'
import { migrations } from '../../db/migrations/index.ts'
import { Migration20261122161500_members_of_orders } from '../../db/migrations/Migration20261122161500_members_of_orders.ts'
import { openApiDatabase } from '../../db/open.ts'
import { inOrganization } from '../../db/organization-scope.ts'
import { migrate, openOrm } from '../../db/orm.ts'
import { API_ROLE } from '../../db/row-security.ts'
import { testServices } from '../support/services.ts'

let databaseUrl: string
let client: pg.Client

beforeEach(async () => {
  const { adminUrl, templateName } = testServices()
  const name = `test_${ulid().toLowerCase()}`
  await onServer(`create database ${name} template ${pg.escapeIdentifier(templateName)}`)
  databaseUrl = new URL(`/${name}`, adminUrl).href
  client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await onServer(`drop database ${new URL(databaseUrl).pathname.slice(1)} with (force)`)
})

async function onServer(statement: string): Promise<void> {
  const admin = new pg.Client({ connectionString: testServices().adminUrl })
  await admin.connect()
  try {
    await admin.query(statement)
  } finally {
    await admin.end()
  }
}

/** Needs a moment, so that the other processes wait for it, and then an index. */
class MigrationOfTest extends Migration {
  override name = 'Migration20991231000000_of_test'

  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql('select pg_sleep(1)')
    this.addSql('create index concurrently of_test_index on websites (organization_id, name)')
  }
}

/** Takes longer than the time in which a statement without a limit of its own has to be answered. */
class SlowMigration extends Migration {
  override name = 'Migration20991231000000_of_test'

  override up(): void {
    this.addSql('select pg_sleep(7)')
    this.addSql("create table of_test as select current_setting('statement_timeout') as timeout")
  }
}

async function withMigration<T>(
  work: () => Promise<T>,
  of: new (...args: never[]) => Migration = MigrationOfTest,
): Promise<T> {
  const added = { name: 'Migration20991231000000_of_test', class: of }
  ;(migrations as { name: string; class: new (...args: never[]) => Migration }[]).push(added)
  try {
    return await work()
  } finally {
    migrations.pop()
  }
}

test('an index is made concurrently while other processes wait to migrate', async () => {
  const started = Date.now()
  const results = await withMigration(
    async () => await Promise.all([1, 2, 3].map(async () => await migrate(databaseUrl))),
  )
  expect(results).toEqual([null, null, null])
  // A waiting process that held a snapshot would stop the index until a lock's time limit of 30 seconds.
  expect(Date.now() - started).toBeLessThan(20_000)
  const { rows } = await client.query(
    `select indisvalid as valid from pg_index where indexrelid = 'of_test_index'::regclass`,
  )
  expect(rows).toEqual([{ valid: true }])
}, 120_000)

test('a migration takes as long as it needs, whatever the limit of the server', async () => {
  await client.query(`alter database ${new URL(databaseUrl).pathname.slice(1)} set statement_timeout = '5s'`)
  expect(await withMigration(async () => await migrate(databaseUrl), SlowMigration)).toBeNull()
  expect((await client.query('select timeout from of_test')).rows).toEqual([{ timeout: '0' }])
}, 60_000)

test.each([
  ['its index', ''],
  [
    'an index that is not complete',
    `alter table invoices drop constraint invoices_number_unique;
     create unique index invoices_number_unique on invoices (organization_id, invoice_number);
     update pg_index set indisvalid = false where indexrelid::regclass::text = any ($indexes)`,
  ],
])('a migration without a transaction succeeds after an attempt that left %s', async (_, damage) => {
  const indexes = [
    'transactions_website_index',
    'invoices_number_unique',
    'transactions_gateway_id_index',
    'payment_instruments_reference_index',
    'payment_instruments_expiry_index',
  ]
  await client.query(damage.replace('$indexes', `'{${indexes.join()}}'`))
  const { rowCount } = await client.query(
    `delete from schema_migrations where name ~ 'by_website|are_unique|by_gateway_id|by_gateway_reference|by_expiry'`,
  )
  expect(rowCount).toBe(indexes.length)
  expect(await migrate(databaseUrl)).toBeNull()
  const { rows } = await client.query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index where indisvalid and indexrelid::regclass::text = any ($1)`,
    [indexes],
  )
  expect(rows.map(({ name }) => name).toSorted()).toEqual(indexes.toSorted())
  const { rowCount: constraints } = await client.query(
    `select from pg_constraint where conname = 'invoices_number_unique' and contype = 'u'`,
  )
  expect(constraints).toBe(1)
})

test('a new table of organizations is protected once the database is migrated', async () => {
  const policies = async () =>
    (await client.query("select polname from pg_policy where polrelid = 'of_test'::regclass order by 1")).rows
  await client.query('create table of_test (organization_id text not null, id text not null)')
  expect(await policies()).toEqual([])
  expect(await migrate(databaseUrl)).toBeNull()
  expect(await policies()).toEqual([{ polname: 'every_organization' }, { polname: 'organization' }])
  await client.query("insert into of_test values ('org_a', '1'), ('org_b', '2')")
  await client.query('begin')
  await client.query(
    "select set_config('role', 'billing_api', true), set_config('billing.organization', 'org_a', true)",
  )
  expect((await client.query('select id from of_test')).rows).toEqual([{ id: '1' }])
  expect((await client.query('select (listed).id from lists.of_test')).rows).toEqual([{ id: '1' }])
  await client.query('rollback')
})

test('a database of an earlier release is protected, and its rows are there', async () => {
  await client.query(`
    drop schema lists cascade;
    drop function find_api_key;
    delete from schema_migrations where name like '%find_api_key';
    do $$ declare policy record; begin
      for policy in select polname, polrelid::regclass::text as name from pg_policy loop
        execute format('drop policy %I on %s', policy.polname, policy.name);
        execute format('alter table %s disable row level security', policy.name);
      end loop;
    end $$;
    insert into organizations (id, name, settings, created_time, updated_time)
      values ('org_a', 'A', '{}', now(), now()), ('org_b', 'B', '{}', now(), now())`)
  expect(await unprotectedTables()).toContain('organizations')
  expect(await migrate(databaseUrl)).toBeNull()
  expect(await unprotectedTables()).toEqual([])
  const masterKeys = [randomBytes(32).toString('base64')]
  const { orm, access } = await openApiDatabase({ databaseUrl, masterKeys })
  const organizations = () => orm.em.fork().find(Organization, {}, { fields: ['id'] })
  expect(access).toEqual({ role: API_ROLE, unprotected: null })
  expect(await inOrganization('org_a', organizations)).toMatchObject([{ id: 'org_a' }])
  expect(await inOrganization('org_b', organizations)).toMatchObject([{ id: 'org_b' }])
  expect(await organizations()).toEqual([])
  await orm.close()
})

test('an order whose trial was to end it does so, whatever else it has', async () => {
  await client.query(ORDERS_WITH_TRIALS)
  await client.query(`delete from schema_migrations where name like '%_trials_that_end_their_order'`)
  const orders = async () => {
    const { rows } = await client.query<TrialRow>(
      `select id, revision, items, trial, is_trial_only as "isTrialOnly" from subscriptions order by id`,
    )
    return rows.map(({ id, revision, items, ...row }) => {
      const plans = items.map(({ priced }) => priced)
      const choices = orderChoices({ ...row, recurringInterval: null, invoiceTimeShift: null })
      const { interval } = agreedTerms(plans, choices)
      return { id, revision, isTrialOnly: row.isTrialOnly, renews: interval !== null }
    })
  }
  const as = (id: string, isTrialOnly: boolean, renews: boolean, revision = 1) => ({
    id,
    revision,
    isTrialOnly,
    renews,
  })
  const others = [
    as('own-trial-is-off', false, true),
    as('past-its-trial', false, true),
    as('recurring-only', false, true),
    as('recurs-after-a-trial', false, true),
    as('trial-ended', false, true),
    as('trial-only', false, false),
    as('trial-only-by-itself', true, false),
  ]
  const mixed = ['active', 'canceled', 'churned', 'own-trial', 'paused', 'pending']
  const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)
  expect((await orders()).toSorted(byId)).toEqual(
    [...mixed.map((id) => as(id, false, true)), ...others].toSorted(byId),
  )
  expect(await migrate(databaseUrl)).toBeNull()
  expect((await orders()).toSorted(byId)).toEqual(
    [...mixed.map((id) => as(id, true, false, 2)), ...others].toSorted(byId),
  )
})

describe('a database of the first release', () => {
  beforeEach(async () => {
    await client.query(
      'drop schema public cascade; drop schema lists cascade; drop schema test_gateway cascade; create schema public',
    )
    await up({ to: 'Migration20261122120000_baseline' })
  })

  test('is upgraded in a time in proportion to its rows', async () => {
    await client.query(manyRows(6_000))
    await up({ statement: 10_000 })
    const { rows } = await client.query(
      `select subscription_ids, plan_ids, child_transactions from transactions where id in ('sale_17', 'refund_17') order by id`,
    )
    expect(rows).toEqual([
      { subscription_ids: ['sub_17', 'sub_18'], plan_ids: ['plan_0'], child_transactions: [] },
      { subscription_ids: ['sub_17', 'sub_18'], plan_ids: ['plan_0'], child_transactions: ['refund_17'] },
    ])
    // Of orders that were canceled and have churned, the migration knows both.
    const { rows: canceled } = await client.query(
      `select distinct subscriptions.canceled_time is not null as is_known, cancellation.status
         from subscriptions join subscription_cancellations cancellation
           on cancellation.id = subscriptions.cancellation_id`,
    )
    expect(canceled).toEqual([{ is_known: true, status: 'completed' }])
  }, 180_000)

  describe('that has canceled orders', () => {
    beforeEach(async () => {
      await client.query(CANCELED_ORDERS)
    })

    test('and ran the first text of a migration gets back what that lost', async () => {
      await withFirstText(async () => await up({ to: BEFORE_THE_REPAIR }))
      await client.query(LIFE_SINCE)
      expect(await canceledOrders()).toEqual({
        subscriptions: [
          ['at-once', null, null],
          ['churned', null, null],
          ['churned-since', null, null],
          ['delinquent', null, null],
          ['delinquent-twice', null, null],
          ['reactivated', null, null],
          ['reactivated-since', null, null],
          ['served', null, 'served'],
          ['undone', null, null],
        ],
        subscription_cancellations: [
          ['at-once', 'completed'],
          ['churned', 'revoked'],
          ['churned-first', 'revoked'],
          ['churned-since', 'confirmed'],
          ['delinquent-twice', 'revoked'],
          ['reactivated', 'revoked'],
          ['reactivated-since', 'confirmed'],
          ['served', 'confirmed'],
          ['undone', 'revoked'],
        ],
        subscription_reactivations: [
          ['delinquent-twice', null],
          ['reactivated', null],
          ['reactivated-since', null],
        ],
      })
      await client.query('alter table invoices drop column refunded_while_open')

      await up()
      expect(await canceledOrders()).toEqual(RIGHT)
      expect(await client.query('select refunded_while_open from invoices')).toMatchObject({ rows: [] })
      const revisions = await revisionsRaised()
      expect(revisions).toMatchObject({
        subscription_cancellations: ['churned', 'churned-since', 'reactivated', 'reactivated-since'],
      })
      await client.query(`delete from schema_migrations where name > '${BEFORE_THE_REPAIR}'`)
      await up()
      expect(await revisionsRaised()).toEqual(revisions)
    }, 180_000)

    test('and ran the later text stays as it is', async () => {
      await up({ to: BEFORE_THE_REPAIR })
      await client.query(LIFE_SINCE)
      expect(await canceledOrders()).toEqual(RIGHT)
      await up()
      expect(await canceledOrders()).toEqual(RIGHT)
      expect(await revisionsRaised()).toEqual({
        subscriptions: [],
        subscription_cancellations: [],
        subscription_reactivations: [],
      })
    }, 180_000)
  })

  const BEFORE_THE_REPAIR = 'Migration20261123010000_credit_of_invoices'

  const RIGHT = {
    subscriptions: [
      ['at-once', 'day 1', 'at-once'],
      ['churned', 'day 1', 'churned'],
      ['churned-since', 'day 1', 'churned-since'],
      ['delinquent', 'day 1', null],
      ['delinquent-twice', null, null],
      ['reactivated', null, null],
      ['reactivated-since', null, null],
      ['served', 'day 1', 'served'],
      ['undone', null, null],
    ],
    subscription_cancellations: [
      ['at-once', 'completed'],
      ['churned', 'completed'],
      ['churned-first', 'revoked'],
      ['churned-since', 'completed'],
      ['delinquent-twice', 'revoked'],
      ['reactivated', 'completed'],
      ['reactivated-since', 'revoked'],
      ['served', 'confirmed'],
      ['undone', 'revoked'],
    ],
    subscription_reactivations: [
      ['delinquent-twice', null],
      ['reactivated', null],
      ['reactivated-since', 'reactivated-since'],
    ],
  }

  /** Columns that the migration fills, by table; each row is named by its id. */
  async function canceledOrders() {
    const shown = {
      subscriptions: `'day ' || extract(day from canceled_time), cancellation_id`,
      subscription_cancellations: 'status',
      subscription_reactivations: 'cancellation_id',
    }
    return await byTable(async (table) => {
      const text = `select id, ${shown[table]} from ${table} order by id`
      return (await client.query({ text, rowMode: 'array' })).rows
    })
  }

  async function revisionsRaised() {
    return await byTable(async (table) => {
      const { rows } = await client.query<{ id: string }>(
        `select id from ${table} where revision > 1 order by id`,
      )
      return rows.map(({ id }) => id)
    })
  }

  async function byTable(read: (table: keyof typeof RIGHT) => Promise<unknown[]>) {
    return {
      subscriptions: await read('subscriptions'),
      subscription_cancellations: await read('subscription_cancellations'),
      subscription_reactivations: await read('subscription_reactivations'),
    }
  }

  async function up({
    to,
    statement = MAINTENANCE_TIMEOUTS.statement,
  }: {
    to?: string
    statement?: number
  } = {}) {
    const orm = await openOrm({ databaseUrl, poolSize: 2, timeouts: { ...MAINTENANCE_TIMEOUTS, statement } })
    try {
      await orm.migrator.up(to === undefined ? {} : { to })
    } finally {
      await orm.close()
    }
  }
})

/** Runs `work` with `members_of_orders` as it was before it read the names that timeline entries have by then. */
async function withFirstText(work: () => Promise<void>): Promise<void> {
  const listed = (migrations as { name: string; class: typeof Migration }[]).find(
    ({ class: { name } }) => name === Migration20261122161500_members_of_orders.name,
  )
  if (listed === undefined) throw new Error('the migration is not listed')
  const { class: later } = listed
  listed.class = FirstText as unknown as typeof Migration
  try {
    await work()
  } finally {
    listed.class = later
  }
}

class FirstText extends Migration20261122161500_members_of_orders {
  override up(): void {
    super.up()
    const later = this.getQueries().map(String)
    const first = later.map((query) =>
      query
        .replace("in ('order-canceled', 'subscription-canceled')", "= 'subscription-canceled'")
        .replace("in ('order-churned', 'subscription-churned')", "= 'subscription-churned'")
        .replace(/-- Of several.*/s, ''),
    )
    expect(first.filter((query, index) => query !== later[index])).toHaveLength(2)
    this.reset()
    for (const query of first) this.addSql(query)
  }
}

async function unprotectedTables(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.columns join pg_class on relname = table_name
      where table_schema = 'public' and relnamespace = 'public'::regnamespace
        and (column_name = 'organization_id' or table_name = 'organizations' and column_name = 'id')
        and not (relrowsecurity and exists (select from pg_policy where polrelid = pg_class.oid))`,
  )
  return rows.map(({ name }) => name)
}

/** Rows of the first release, `count` of each table. */
function manyRows(count: number): string {
  return `
    insert into customers (organization_id, id, created_time, updated_time)
      select 'org_a', 'cus_' || n, now(), now() from generate_series(1, ${count}) n;
    insert into subscriptions (organization_id, id, customer_id, website_id, items, status, currency, start_time,
        canceled_by, churn_time, created_time, updated_time)
      select 'org_a', 'sub_' || n, 'cus_' || n, 'web', '[]', 'churned', 'EUR', now(), 'merchant', now(), now(), now()
        from generate_series(1, ${count}) n;
    insert into timeline_entries (organization_id, id, subscription_id, type, occurred_time, cause, message,
        created_time, updated_time)
      select 'org_a', type || n, 'sub_' || n, 'subscription-' || type, now(), 'api', '', now(), now()
        from generate_series(1, ${count}) n, unnest(array['canceled', 'churned']) type;
    insert into subscription_cancellations (organization_id, id, subscription_id, churn_time, canceled_by,
        created_time, updated_time)
      select 'org_a', 'cancel_' || n, 'sub_' || n, now(), 'merchant', now() - interval '1 day', now()
        from generate_series(1, ${count}) n;
    insert into payment_instruments (organization_id, id, customer_id, method, bin, last4, brand, exp_month, exp_year,
        status, gateway, gateway_reference, card_fingerprint, created_time, updated_time)
      select 'org_a', 'card_' || n, 'cus_' || n, 'payment-card', '411111', '1111', 'Visa', 12, 2090,
             'active', 'test', 'ref_' || n, 'print_' || n, now(), now() from generate_series(1, ${count}) n;
    insert into invoices (organization_id, id, subscription_id, customer_id, website_id, sequence, type, status,
        currency, lines, amount, amount_due, issued_time, created_time, updated_time)
      select 'org_a', 'in_' || n, 'sub_' || n, 'cus_' || n, 'web', 1, 'initial', 'paid', 'EUR',
             '[{"planId": "plan_0"}]', 10, 0, now(), now(), now() from generate_series(1, ${count}) n;
    insert into transactions (organization_id, id, type, customer_id, currency, amount, payment_instruction,
        parent_transaction_id, invoice_ids, result, created_time, updated_time)
      select 'org_a', type || '_' || n, type, 'cus_' || n, 'EUR', 10, jsonb_build_object('paymentInstrumentId', 'card_' || n),
             case type when 'refund' then 'sale_' || n end,
             case type when 'sale' then jsonb_build_array('in_' || n, 'in_' || n + 1) else '[]' end,
             'approved', now(), now()
        from generate_series(1, ${count}) n, unnest(array['sale', 'refund']) type`
}

/** Orders of the first release, named by their outcome. */
const CANCELED_ORDERS = `
  insert into subscriptions (organization_id, id, customer_id, website_id, items, status, currency, start_time,
      canceled_by, churn_time, created_time, updated_time)
    select 'org_a', id, 'cus_a', 'web_a', '[]', status, 'EUR', now(), by, churn_time::timestamptz, now(), now() from (values
      ('at-once', 'churned', 'merchant', '2026-01-01T12:00Z'),
      ('churned', 'churned', 'customer', '2026-01-02T12:00Z'),
      ('churned-since', 'canceled', 'merchant', '2026-01-04T12:00Z'),
      ('delinquent', 'canceled', 'rebilly-side', '2026-01-01T12:00Z'),
      ('delinquent-twice', 'canceled', 'rebilly-side', '2026-01-03T12:00Z'),
      ('reactivated', 'active', null, null),
      ('reactivated-since', 'canceled', 'customer', '2026-01-09T12:00Z'),
      ('served', 'canceled', 'merchant', '2090-01-01T12:00Z'),
      ('undone', 'active', null, null)) subscription (id, status, by, churn_time);
  insert into timeline_entries (organization_id, id, subscription_id, type, occurred_time, cause, message, created_time, updated_time)
    select 'org_a', gen_random_uuid()::text, id, type, time::timestamptz, 'api', '', now(), now() from (values
      ('at-once', 'subscription-canceled', '2026-01-01T12:00Z'), ('at-once', 'subscription-churned', '2026-01-01T12:00Z'),
      ('churned', 'subscription-canceled', '2026-01-01T11:00Z'), ('churned', 'subscription-reactivated', '2026-01-01T11:30Z'),
      ('churned', 'subscription-canceled', '2026-01-01T12:00Z'), ('churned', 'subscription-churned', '2026-01-02T12:00Z'),
      ('churned-since', 'subscription-canceled', '2026-01-01T12:00Z'),
      ('delinquent', 'order-delinquency-reached', '2026-01-01T12:00Z'), ('delinquent', 'subscription-canceled', '2026-01-01T12:00Z'),
      ('delinquent-twice', 'subscription-canceled', '2026-01-01T12:00Z'), ('delinquent-twice', 'subscription-reactivated', '2026-01-02T12:00Z'),
      ('delinquent-twice', 'order-delinquency-reached', '2026-01-03T12:00Z'), ('delinquent-twice', 'subscription-canceled', '2026-01-03T12:00Z'),
      ('reactivated', 'subscription-canceled', '2026-01-01T12:00Z'), ('reactivated', 'subscription-churned', '2026-01-02T12:00Z'),
      ('reactivated', 'subscription-reactivated', '2026-01-03T12:00Z'),
      ('reactivated-since', 'subscription-canceled', '2026-01-01T12:00Z'),
      ('served', 'subscription-canceled', '2026-01-01T12:00Z'),
      ('undone', 'subscription-canceled', '2026-01-01T12:00Z'), ('undone', 'subscription-reactivated', '2026-01-02T12:00Z')
    ) entry (id, type, time);
  insert into subscription_cancellations (organization_id, id, subscription_id, churn_time, canceled_by, created_time, updated_time)
    select 'org_a', id, subscription_id, churn_time::timestamptz, 'merchant', time::timestamptz, now() from (values
      ('at-once', 'at-once', '2026-01-01T12:00Z', '2026-01-01T12:00Z'),
      ('churned-first', 'churned', '2026-01-02T12:00Z', '2026-01-01T11:00Z'),
      ('churned', 'churned', '2026-01-02T12:00Z', '2026-01-01T12:00Z'),
      ('churned-since', 'churned-since', '2026-01-04T12:00Z', '2026-01-01T12:00Z'),
      ('delinquent-twice', 'delinquent-twice', '2026-01-09T12:00Z', '2026-01-01T12:00Z'),
      ('reactivated', 'reactivated', '2026-01-02T12:00Z', '2026-01-01T12:00Z'),
      ('reactivated-since', 'reactivated-since', '2026-01-09T12:00Z', '2026-01-01T12:00Z'),
      ('served', 'served', '2090-01-01T12:00Z', '2026-01-01T12:00Z'),
      ('undone', 'undone', '2026-01-09T12:00Z', '2026-01-01T12:00Z')) cancellation (id, subscription_id, churn_time, time);
  insert into subscription_reactivations (organization_id, id, subscription_id, effective_time, created_time, updated_time)
    values ('org_a', 'reactivated', 'reactivated', '2026-01-03T12:00Z', '2026-01-03T12:00Z', now())`

type TrialRow = Pick<Subscription, 'id' | 'revision' | 'items' | 'trial' | 'isTrialOnly'>

/** Named by what they are; those with a status for a name have a plan for a trial alone beside one that recurs. */
const ORDERS_WITH_TRIALS = `
  with plans as (
    select name, jsonb_build_object('id', name, 'plan', jsonb_build_object('id', name), 'quantity', 1, 'priced',
             jsonb_build_object('id', name, 'trial', trial, 'isTrialOnly', is_trial_only, 'recurringInterval', interval,
               'invoiceTimeShift', null)) as item
      from (values
        ('A', '{"price": "1", "period": {"unit": "day", "length": 7}}'::jsonb, true, null::jsonb),
        ('B', '{"price": "2", "period": {"unit": "day", "length": 7}}', false, '{"unit": "month", "length": 1, "limit": null}'),
        ('C', null, false, '{"unit": "month", "length": 1, "limit": null}'),
        ('D', '{"price": "1", "period": {"unit": "day", "length": 7}}', true, '{"unit": "month", "length": 1, "limit": null}')
      ) plan (name, trial, is_trial_only, interval))
  insert into subscriptions (organization_id, id, customer_id, website_id, items, status, currency, start_time,
      trial, is_trial_only, rebill_number, created_time, updated_time)
    select 'org_a', id, 'cus_a', 'web_a',
           (select jsonb_agg(item order by name) from plans where name = any (string_to_array(of_plans, ' '))),
           status, 'EUR', now(), trial::jsonb, is_trial_only, rebill, now(), now()
      from (values
        ('pending', 'pending', 'A B', null, false, null),
        ('active', 'active', 'A B', null, false, 0),
        ('paused', 'paused', 'B D', null, false, 0),
        ('canceled', 'canceled', 'A B', null, false, 0),
        ('churned', 'churned', 'A B', null, false, 0),
        ('own-trial', 'active', 'A C', '{"enabled": true, "endTime": "2090-01-01T00:00:00.000Z"}', false, 0),
        ('own-trial-is-off', 'active', 'B D', '{"enabled": false, "endTime": null}', false, null),
        ('past-its-trial', 'active', 'A B', null, false, 1),
        ('recurring-only', 'active', 'C', null, false, null),
        ('recurs-after-a-trial', 'active', 'B', null, false, 0),
        ('trial-ended', 'trial-ended', 'A B', null, false, 0),
        ('trial-only', 'active', 'A D', null, false, 0),
        ('trial-only-by-itself', 'active', 'B', null, true, 0)
      ) subscription (id, status, of_plans, trial, is_trial_only, rebill)`

/** As the service does it: an order without a `canceled_time` loses its `cancellation_id` by any transition. */
const LIFE_SINCE = `
  update subscriptions set cancellation_id = null where canceled_time is null and id <> 'served';
  update subscription_cancellations cancellation
     set status = case cancellation.id when 'churned-since' then 'completed' else 'revoked' end
    from subscriptions where subscriptions.cancellation_id = cancellation.id
     and cancellation.id in ('churned-since', 'reactivated-since');
  insert into subscription_reactivations (organization_id, id, subscription_id, cancellation_id, effective_time, created_time, updated_time)
    select organization_id, id, id, cancellation_id, '2026-01-04T12:00Z', now(), now()
      from subscriptions where id in ('reactivated-since', 'delinquent-twice');
  update subscriptions set status = 'churned' where id = 'churned-since';
  update subscriptions set status = 'active', canceled_by = null, canceled_time = null, cancellation_id = null
   where id in ('reactivated-since', 'delinquent-twice');
  insert into timeline_entries (organization_id, id, subscription_id, type, occurred_time, cause, message, created_time, updated_time)
    values ('org_a', 'churned', 'churned-since', 'order-churned', '2026-01-04T12:00Z', 'timer', '', now(), now()),
           ('org_a', 'reactivated', 'reactivated-since', 'order-reactivated', '2026-01-04T12:00Z', 'api', '', now(), now())`
