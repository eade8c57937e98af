/**
 * Row-level security (ADR 49): a policy of each table compares its `organization_id` with the setting that a
 * transaction of the API begins with (`db/driver.ts`); without the setting there are no rows. Workers and
 * operators have a role that sees all; owners of the tables and superusers do too.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import pg from 'pg'
import { connectionOptions } from './connection.ts'
import { ORGANIZATION_SETTING } from './organization-scope.ts'
import { composedStatement, statement } from './statement.ts'

/** Held to one organization; it cannot reach the ledger of the test gateway. */
export const API_ROLE = 'billing_api'
/** Sees every organization. */
const WORKER_ROLE = 'billing_worker'
/** The test gateway stands for a system of its own: its ledger and nothing else. */
const TEST_GATEWAY_ROLE = 'billing_test_gateway'
const ROLES = [API_ROLE, WORKER_ROLE, TEST_GATEWAY_ROLE]

/** With the column that names the organization. */
const TENANT_TABLES = `
  select class.oid, class.oid::regclass::text as name, class.relname, attribute.attname as key
    from pg_class class
    join pg_attribute attribute on attribute.attrelid = class.oid and not attribute.attisdropped
   where class.relnamespace = 'public'::regnamespace and class.relkind in ('r', 'p')
     and attribute.attname = case class.relname when 'organizations' then 'id' else 'organization_id' end`

/**
 * The rows of the organization in scope, without policies: PostgreSQL evaluates these before any function
 * that could reveal a value, and a condition with such a function, as `lower` or `like`, then uses no index.
 */
export function listedRows(table: string): string {
  return `(select (listed).* from lists.${table})`
}

/** A repetition locks no table that is complete. Returns what keeps the policies from being created or in force, or null. */
export async function protectRows(em: EntityManager): Promise<string | null> {
  await composedStatement(em, CREATE_LISTS)
  const missing = await createRoles(em)
  if (missing.length > 0) {
    return `the roles ${missing.join(', ')} do not exist, and this user may not create them`
  }
  await composedStatement(em, CREATE_POLICIES)
  const [outsider] = await statement<{ user: string }>(em, 'find-user-outside-of-roles', FIND_OUTSIDER)
  if (outsider === undefined) return null
  return `the user ${outsider.user} is no member of ${API_ROLE}, and this database has no user of its own for the API`
}

export interface ApiAccess {
  /** null: the role that the connections log in with. */
  readonly role: string | null
  /** Why row-level security does not hold the API to one organization; null: it does. */
  readonly unprotected: string | null
}

export function rowSecurityCheck({
  unprotected,
}: ApiAccess): Readonly<Record<string, () => Promise<string | null>>> {
  return { 'row-level-security': async () => unprotected }
}

export async function apiAccess(databaseUrl: string): Promise<ApiAccess> {
  try {
    return { role: API_ROLE, unprotected: await unprotectedTables(databaseUrl, API_ROLE) }
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && ROLE_REFUSED.includes(error.code ?? ''))) throw error
    const unprotected = await unprotectedTables(databaseUrl, null)
    return { role: null, unprotected: unprotected === null ? null : `${error.message}; ${unprotected}` }
  }
}

/** `invalid_parameter_value`: it does not exist; `insufficient_privilege`: the user is no member. */
const ROLE_REFUSED = ['22023', '42501']

async function unprotectedTables(databaseUrl: string, role: string | null): Promise<string | null> {
  const client = new pg.Client({
    ...connectionOptions({ databaseUrl, name: 'billing row security', role }),
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => {}) // a lost connection fails the query
  try {
    await client.connect()
    const { rows } = await client.query<{ role: string; name: string }>(
      `select current_user as role, name from (${TENANT_TABLES}) tenant where not row_security_active(oid)`,
    )
    const [first] = rows
    return first === undefined ? null : `${first.role} sees every organization in ${rows.length} tables`
  } finally {
    await client.end()
  }
}

/** @throws Error if row-level security withholds organizations from the user of `em`. */
export async function requireEveryOrganization(em: EntityManager): Promise<void> {
  const [row] = await statement<{ user: string; withheld: boolean }>(
    em,
    'find-withheld-organizations',
    `select current_user as user, row_security_active('organizations')
            and not coalesce(pg_has_role(to_regrole('${WORKER_ROLE}'), 'usage'), false) as withheld`,
  )
  if (row?.withheld !== true) return
  throw new Error(
    `Row-level security withholds the organizations from the user ${row.user} of DATABASE_URL: it has to be a member of ${WORKER_ROLE}.`,
  )
}

async function createRoles(em: EntityManager): Promise<string[]> {
  await composedStatement(em, CREATE_ROLES)
  const missing = await composedStatement<{ role: string }>(
    em,
    'select role from unnest(?::text[]) as role where to_regrole(role) is null',
    [ROLES],
  )
  return missing.map(({ role }) => role)
}

/** Their columns are those of the table's row type, so that a view depends on no column. */
const CREATE_LISTS = `do $$
  declare
    tenant record;
  begin
    create schema if not exists lists;
    for tenant in ${TENANT_TABLES} and to_regclass('lists.' || quote_ident(class.relname)) is null loop
      execute format('create view lists.%I as select %I as listed from %s where %I = current_setting(%L, true)',
        tenant.relname, tenant.relname, tenant.name, tenant.key, '${ORGANIZATION_SETTING}');
    end loop;
  end
$$`

/** Roles belong to the server: another database may create them at the same time. */
const CREATE_ROLES = `do $$
  declare
    missing name;
  begin
    for missing in select role from unnest(array['${ROLES.join("', '")}']) as role where to_regrole(role) is null loop
      execute format('create role %I', missing);
      if not (select rolsuper from pg_roles where rolname = current_user) then
        execute format('grant %I to current_user', missing);
      end if;
    end loop;
  exception
    when insufficient_privilege or duplicate_object or unique_violation then null;
  end
$$`

/**
 * The user, unless this one or another can connect as the role of the API. Roles belong to the server: who owns a
 * database serves that one, and is no user of this one.
 */
const FIND_OUTSIDER = `
  select current_user as user
   where not pg_has_role('${API_ROLE}', 'member') and not exists (
     select from pg_roles login
      where login.rolcanlogin and not login.rolsuper and pg_has_role(login.oid, '${API_ROLE}', 'member')
        and has_database_privilege(login.oid, current_database(), 'connect')
        and not exists (select from pg_database where datdba = login.oid))`

const CREATE_POLICIES = `do $$
  declare
    tenant record;
  begin
    for tenant in ${TENANT_TABLES} and not exists (
      select from pg_policy where polrelid = class.oid and polname = 'organization') loop
      execute format('create policy organization on %s to ${API_ROLE} using (%I = current_setting(%L, true))',
        tenant.name, tenant.key, '${ORGANIZATION_SETTING}');
      execute format('create policy every_organization on %s to ${WORKER_ROLE} using (true)', tenant.name);
      execute format('alter table %s enable row level security', tenant.name);
    end loop;
    grant usage on schema public to ${API_ROLE}, ${WORKER_ROLE};
    grant select, insert, update, delete on all tables in schema public to ${API_ROLE}, ${WORKER_ROLE};
    grant usage, select on all sequences in schema public to ${API_ROLE}, ${WORKER_ROLE};
    grant usage on schema lists to ${API_ROLE};
    grant select on all tables in schema lists to ${API_ROLE};
    grant usage on schema test_gateway to ${TEST_GATEWAY_ROLE};
    grant select, insert, update, delete on all tables in schema test_gateway to ${TEST_GATEWAY_ROLE};
  end
$$`
