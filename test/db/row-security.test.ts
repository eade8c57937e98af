/** Wrong statements, on purpose: row-level security restricts each to one organization, in every table. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import { Plan } from '../../db/entities/index.ts'
import { inOrganization } from '../../db/organization-scope.ts'
import { openOrm } from '../../db/orm.ts'
import { API_ROLE, listedRows } from '../../db/row-security.ts'
import { composedStatement, statement } from '../../db/statement.ts'
import fc from '../support/fast-check.ts'
import { startService, type TestService } from '../support/service.ts'

const OURS = 'org_ours'
const OTHERS = 'org_others'

interface TenantTable {
  readonly name: string
  readonly key: string
}

let service: TestService
/** A superuser, to whom no policy applies. */
let admin: pg.Client
let tables: TenantTable[]

beforeAll(async () => {
  service = await startService({ worker: false })
  admin = new pg.Client({ connectionString: service.databaseUrl })
  await admin.connect()
  tables = await tenantTables()
  for (const table of tables) {
    await admin.query(`delete from ${table.name}`)
    for (const organization of [OURS, OTHERS]) await admin.query(await filler(table, organization))
  }
})
afterAll(async () => {
  for (const { name } of tables) await admin.query(`delete from ${name}`)
  await admin.end()
  await service.stop()
})

const api = (): EntityManager => service.apiDatabase.orm.em.fork()
const ours = <T>(work: () => Promise<T>): Promise<T> => inOrganization(OURS, work)

/** Every table and column by the catalogue, so that a new table is found here before it has a policy. */
async function tenantTables(): Promise<TenantTable[]> {
  const { rows } = await admin.query<TenantTable>(
    `select format('%I.%I', table_schema, table_name) as name, column_name as key
       from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_type = 'BASE TABLE' and (column_name = 'organization_id' or table_name = 'organizations' and column_name = 'id')
      order by 1`,
  )
  return rows
}

/** Returns an insert with a value of each type; keyed hashes are unique anywhere. */
async function filler({ name, key }: TenantTable, organization: string, id = 'e'): Promise<string> {
  const { rows } = await admin.query<{ column_name: string; data_type: string }>(
    `select column_name, data_type from information_schema.columns
      where format('%I.%I', table_schema, table_name) = $1
        and is_nullable = 'NO' and column_default is null and is_identity = 'NO'`,
    [name],
  )
  const values = rows.map(({ column_name: column, data_type: type }) => {
    if (column === key) return `'${organization}'`
    if (/_hash$/.test(column)) return `'${organization} ${id}'`
    if (type === 'jsonb') return `'{}'`
    if (/^(timestamp|date)/.test(type)) return 'now()'
    if (type === 'boolean') return 'false'
    return /char|text/.test(type) ? `'${id}'` : '1'
  })
  const columns = rows.map(({ column_name }) => pg.escapeIdentifier(column_name))
  return `insert into ${name} (${columns.join(', ')}) values (${values.join(', ')})`
}

/** Returns the rows, or `refused` if PostgreSQL does not permit the statement. */
async function outcome(work: Promise<object[]>): Promise<object[] | 'refused'> {
  try {
    return await work
  } catch (error) {
    for (let cause = error; Error.isError(cause); cause = cause.cause) {
      if ((cause as { code?: unknown }).code === '42501') return 'refused'
    }
    throw error
  }
}

/** Runs a statement of the API on each table, in a transaction that is undone; returns its outcome by table. */
async function onEach(
  text: (table: TenantTable) => string | Promise<string>,
  organization: string | null = OURS,
): Promise<Record<string, object[] | 'refused'>> {
  const outcomes: Record<string, object[] | 'refused'> = {}
  for (const table of tables) {
    const sql = await text(table)
    const run = () =>
      api().transactional(async (trx) => {
        outcomes[table.name] = await outcome(composedStatement(trx, sql))
        throw new Undo()
      })
    await (organization === null ? run() : inOrganization(organization, run)).catch((error) => {
      if (!(error instanceof Undo)) throw error
    })
  }
  return outcomes
}

class Undo extends Error {}

/** The test gateway's ledger is no concern of the API. */
function expectEach(outcomes: Record<string, unknown>, wanted: unknown): void {
  const isLedger = (name: string) => name.startsWith('test_gateway.')
  expect(outcomes).toEqual(
    Object.fromEntries(tables.map(({ name }) => [name, isLedger(name) ? 'refused' : wanted])),
  )
}

describe('the set-up of these tests', () => {
  test('has a row of each organization under equal ids in every table', async () => {
    expect(tables.length).toBeGreaterThan(25)
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['public.organizations', 'public.subscriptions', 'test_gateway.ledger']),
    )
    for (const { name, key } of tables) {
      const { rows } = await admin.query(`select "${key}" as organization from ${name} order by 1`)
      expect([name, rows]).toEqual([name, [{ organization: OTHERS }, { organization: OURS }]])
    }
  })

  test('works under a role that no policy exempts', async () => {
    const [role] = await composedStatement(
      api(),
      `select rolname, rolsuper, rolbypassrls, (select count(*)::int from pg_class where relowner = pg_roles.oid) as owned
         from pg_roles where rolname = current_user`,
    )
    expect(role).toEqual({ rolname: API_ROLE, rolsuper: false, rolbypassrls: false, owned: 0 })
    expect(service.apiDatabase.access).toEqual({ role: API_ROLE, unprotected: null })
  })

  test('leaves out no table that could hold an organization: the others are these', async () => {
    const { rows } = await admin.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
        where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    )
    const known = tables.map(({ name }) => name)
    expect(
      rows
        .map(({ name }) => name)
        .filter((name) => !known.includes(name))
        .toSorted(),
    ).toEqual([
      'public.customer_token_keys',
      'public.installation',
      'public.rate_limits',
      'public.schema_migrations',
      'public.signing_keys',
      'public.worker_processes',
    ])
  })
})

describe("in every table, a statement for one's own organization", () => {
  test('without a where clause reads its own row alone', async () => {
    expectEach(await onEach(({ name, key }) => `select "${key}" as organization from ${name}`), [
      { organization: OURS },
    ])
  })

  test("that names the other's rows reads none", async () => {
    expectEach(await onEach(({ name, key }) => `select 1 from ${name} where "${key}" = '${OTHERS}'`), [])
    expectEach(await onEach(({ name, key }) => `select 1 from ${name} where "${key}" <> '${OURS}'`), [])
  })

  test("that locks the other's rows locks none", async () => {
    expectEach(
      await onEach(({ name, key }) => `select 1 from ${name} where "${key}" = '${OTHERS}' for update`),
      [],
    )
  })

  test('inserts rows of its own', async () => {
    expectEach(await onEach((table) => filler(table, 'org_third'), 'org_third'), [])
  })

  test('cannot insert a row of the other', async () => {
    expectEach(
      await onEach((table) => filler(table, table.key === 'id' ? 'org_new' : OTHERS, 'n')),
      'refused',
    )
  })

  test('without a where clause updates its own row alone', async () => {
    expectEach(
      await onEach(
        ({ name, key }) => `update ${name} set "${key}" = "${key}" returning "${key}" as organization`,
      ),
      [{ organization: OURS }],
    )
  })

  test("that names the other's rows updates none, nor takes them over", async () => {
    expectEach(
      await onEach(
        ({ name, key }) => `update ${name} set "${key}" = '${OURS}' where "${key}" = '${OTHERS}' returning 1`,
      ),
      [],
    )
  })

  test('cannot hand its own row to the other', async () => {
    expectEach(
      await onEach(({ name, key }) => `update ${name} set "${key}" = 'org_third' returning 1`),
      'refused',
    )
  })

  test('without a where clause deletes its own row alone', async () => {
    expectEach(await onEach(({ name, key }) => `delete from ${name} returning "${key}" as organization`), [
      { organization: OURS },
    ])
  })

  test("that names the other's rows deletes none", async () => {
    expectEach(
      await onEach(({ name, key }) => `delete from ${name} where "${key}" = '${OTHERS}' returning 1`),
      [],
    )
  })

  test('cannot empty a table or switch its policies off', async () => {
    expectEach(await onEach(({ name }) => `truncate ${name}`), 'refused')
    const [first] = tables
    expect(
      await outcome(composedStatement(api(), `alter table ${first?.name} disable row level security`)),
    ).toBe('refused')
  })
})

describe('in every table, a statement outside of any organization', () => {
  test('reads, updates and deletes no row, and inserts none', async () => {
    expectEach(await onEach(({ name }) => `select 1 from ${name}`, null), [])
    expectEach(await onEach(({ name }) => `select 1 from ${name} for update`, null), [])
    expectEach(
      await onEach(({ name, key }) => `update ${name} set "${key}" = "${key}" returning 1`, null),
      [],
    )
    expectEach(await onEach(({ name }) => `delete from ${name} returning 1`, null), [])
    expectEach(
      await onEach((table) => filler(table, table.key === 'id' ? 'org_new' : OURS, 'n'), null),
      'refused',
    )
  })

  test('does so too on a connection that has served an organization before', async () => {
    const orm = await oneConnection()
    const count = () => orm.em.fork().count(Plan)
    expect(await ours(count)).toBe(1)
    expect(await count()).toBe(0)
    expect(await ours(count)).toBe(1)
    await orm.close()
  })
})

describe('what lists read', () => {
  const publicTables = () => tables.filter(({ name }) => name.startsWith('public.'))
  const listed = async () =>
    Object.fromEntries(
      await Promise.all(
        publicTables().map(async ({ name, key }) => [
          name,
          await composedStatement(
            api(),
            `select "${key}" as organization from ${listedRows(name.replace('public.', ''))} row`,
          ),
        ]),
      ),
    )

  test("holds one's own rows alone, for every table", async () => {
    expect(await ours(listed)).toEqual(
      Object.fromEntries(publicTables().map(({ name }) => [name, [{ organization: OURS }]])),
    )
  })

  test('holds nothing outside of any organization', async () => {
    expect(await listed()).toEqual(Object.fromEntries(publicTables().map(({ name }) => [name, []])))
  })

  test('is read only', async () => {
    const write = composedStatement(api(), 'delete from lists.plans')
    await expect(ours(() => write)).rejects.toThrow(/permission denied|cannot delete/)
  })

  test('is found by the indexes of conditions that PostgreSQL evaluates after a policy', async () => {
    const plan = async (from: string) =>
      await api().transactional(async (trx) => {
        await composedStatement(trx, 'set local enable_seqscan = off')
        return JSON.stringify(
          await composedStatement(
            trx,
            `explain select 1 from ${from} row where organization_id = '${OURS}' and lower(id) = 'e'`,
          ),
        )
      })
    expect(await ours(() => plan(listedRows('transactions')))).toMatch(/Index Cond: [^"]*lower\(/)
    expect(await ours(() => plan('transactions'))).not.toMatch(/Index Cond: [^"]*lower\(/)
  })

  test('changes with its table: columns are added, changed and dropped under it', async () => {
    await admin.query('alter table plans add column colour text default $$red$$')
    await admin.query('alter table plans alter column name type text')
    const read = () => composedStatement(api(), `select * from ${listedRows('plans')} row`)
    const [before] = await ours(read)
    expect(before).toMatchObject({ organization_id: OURS, colour: 'red' })
    await admin.query('alter table plans drop column colour')
    await admin.query('alter table plans alter column name type varchar(255)')
    const [after] = await ours(read)
    expect(after).not.toHaveProperty('colour')
  })
})

describe('an organization in scope', () => {
  test('cannot be left for another one within', async () => {
    await ours(async () => {
      expect(() => inOrganization(OTHERS, async () => {})).toThrow('cannot work for org_others')
      expect(await inOrganization(OURS, async () => await api().count(Plan))).toBe(1)
    })
  })

  test('is what each statement of a few connections sees, whatever fails beside it', async () => {
    const orm = await oneConnection(2)
    const seen = async (em: EntityManager) =>
      (
        await statement<{ organization_id: string }>(em, 'test-seen', 'select organization_id from plans')
      ).map(({ organization_id }) => organization_id)
    const ways: Record<string, (em: EntityManager) => Promise<string[]>> = {
      'a plain statement': seen,
      'a transaction': (em) => em.transactional(seen),
      'a transaction of several': (em) =>
        em.transactional(async (trx) => {
          await seen(trx)
          await trx.count(Plan)
          return await seen(trx)
        }),
      'after a savepoint was rolled back': (em) =>
        em.transactional(async (trx) => {
          await trx
            .transactional(async (nested) => {
              await statement(nested, 'test-divide', 'select 1 / 0')
            })
            .catch(() => {})
          return await seen(trx)
        }),
      'after a failure': async (em) => {
        await statement(em, 'test-divide', 'select 1 / 0').catch(() => {})
        return await seen(em)
      },
      'after a failed transaction': async (em) => {
        await em
          .transactional(async (trx) => {
            await seen(trx)
            await statement(trx, 'test-divide', 'select 1 / 0')
          })
          .catch(() => {})
        return await seen(em)
      },
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            way: fc.constantFrom(...Object.keys(ways)),
            organization: fc.constantFrom(OURS, OTHERS, null),
          }),
          { minLength: 2, maxLength: 12 },
        ),
        async (steps) => {
          const results = await Promise.all(
            steps.map(async ({ way, organization }) => {
              const run = () => ways[way]?.(orm.em.fork())
              return await (organization === null ? run() : inOrganization(organization, run))
            }),
          )
          expect(results).toEqual(
            steps.map(({ organization }) => (organization === null ? [] : [organization])),
          )
        },
      ),
      { numRuns: 60 },
    )
    await orm.close()
  })
})

async function oneConnection(poolSize = 1): Promise<MikroORM> {
  const { role } = service.apiDatabase.access
  return await openOrm({ databaseUrl: service.databaseUrl, poolSize, role, isScoped: true })
}
