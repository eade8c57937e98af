/** What a filter means is stated twice: by PostgreSQL, and by an oracle in memory. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { disputes } from '../../api/operations/disputes.ts'
import { subscriptions } from '../../api/operations/orders.ts'
import { plans } from '../../api/operations/plans.ts'
import { type FilterClause, type FilterValue, printFilter } from '../../api/query/filter.ts'
import { type ListParameters, listQuery } from '../../api/query/list-sql.ts'
import { ROUTES } from '../../api/routes.ts'
import type { ApiResponse } from '../support/api-client.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { customerBrowser } from '../support/customer-browser.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import fc from '../support/fast-check.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

type Shown = Record<string, unknown>

function memberOf(schema: object, name: string): object {
  type Members = { properties?: Record<string, object> }
  return name.split('.').reduce<object>((parent, one) => (parent as Members).properties?.[one] ?? {}, schema)
}

interface Scalar {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Scalar>>
}

function scalarsOf(schema: object, prefix = ''): string[] {
  return Object.entries((schema as Scalar).properties ?? {}).flatMap(([name, member]) => {
    if (name.startsWith('_') || 'writeOnly' in member || 'x-neutral' in member) return []
    if (member.properties !== undefined) return scalarsOf(member, `${prefix}${name}.`)
    const types = [member.type ?? (member.enum === undefined ? [] : 'string')].flat()
    return types.some((type) => ['string', 'number', 'integer', 'boolean'].includes(type))
      ? [`${prefix}${name}`]
      : []
  })
}

/** What no statement can read: digests of addresses, and what is encrypted. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'api-keys': ['secretKey'],
  'payment-instruments': ['billingAddress.hash'],
  transactions: ['billingAddress.hash'],
  customers: ['primaryAddress.hash'],
  'tracking/webhooks': ['request'],
  'service-credentials/webhook': ['auth.type', 'auth.username'],
  subscriptions: ['deliveryAddress.hash', 'billingAddress.hash'],
  invoices: ['billingAddress.hash', 'deliveryAddress.hash'],
}

describe('a list', () => {
  let service: TestService
  let merchant: Catalogue
  let transactionId: string

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
    transactionId = await externalSale(merchant.api, merchant.customerId)
    for (let index = 0; index < 12; index += 1) {
      const { status } = await merchant.api.put(
        `disputes/d${index}`,
        disputeBody(transactionId, {
          amount: index || 0.5,
          caseId: index % 3 === 0 ? null : `Case ${index % 3}`,
        }),
      )
      expect(status).toBe(201)
    }
  })
  afterAll(() => service.stop())

  const list = (query: string): Promise<ApiResponse<Shown[]>> => merchant.api.get(`disputes?${query}`)
  const ids = async (query: string): Promise<unknown[]> => {
    const { status, body } = await list(query)
    expect({ status, body: status === 200 ? '' : body }).toEqual({ status: 200, body: '' })
    return body.map(({ id }) => id)
  }
  const paging = ({ headers }: ApiResponse<unknown>) =>
    ['Total', 'Limit', 'Offset'].map((name) => headers.get(`Pagination-${name}`))

  test('is newest first, a hundred from the start, with its paging headers', async () => {
    const response = await list('')
    expect(response.body.map(({ id }) => id)).toEqual(
      Array.from({ length: 12 }, (_, index) => `d${11 - index}`),
    )
    expect(paging(response)).toEqual(['12', '100', '0'])
    expect(response.headers.get('etag')).toBeNull()
  })

  test.each([
    ['limit=5&offset=10', ['12', '5', '10'], ['d1', 'd0']],
    ['limit=2&offset=3', ['12', '2', '3'], ['d8', 'd7']],
    ['limit=0', ['12', '0', '0'], []],
    ['limit=1000&offset=1000', ['12', '1000', '1000'], []],
    ['limit=1&filter=amount:..3', ['4', '1', '0'], ['d3']],
  ])('pages by %s', async (query, headers, expected) => {
    const response = await list(query)
    expect([paging(response), response.body.map(({ id }) => id)]).toEqual([headers, expected])
  })

  test.each([
    ['limit=1001', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=many', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['offset=1001', 'offset'],
    ['offset=-1', 'offset'],
    ['colour=red', 'colour'],
    ['sort=colour', 'sort'],
    ['sort=-_links', 'sort'],
    ['sort=customFields.a', 'sort'],
    ['filter=colour:red', 'filter'],
    ['filter=customFields.a:b', 'filter'],
    ['filter=organizationId:x', 'filter'],
    ['filter=constructor:x', 'filter'],
    ['filter=amount', 'filter'],
    ['filter=amount:', 'filter'],
    ['filter=amount:abc', 'filter'],
    ['filter=amount:1..x', 'filter'],
    ['filter=amount:..', 'filter'],
    ['filter=createdTime:yesterday', 'filter'],
    ['filter=status:won,!lost', 'filter'],
    ['filter=status:a%00b', 'filter'],
    ['q=%00', 'q'],
    ['expand=colour', 'expand'],
  ])('refuses %s: 400 that names the parameter', async (query, field) => {
    expect(expectProblem(await merchant.api.get(`disputes?${query}`), 400, 'malformed-request')).toEqual([
      field,
    ])
  })

  test('every operation refuses a parameter it does not list', async () => {
    const browser = await customerBrowser(service, merchant)
    for (const { method, path, takesBody, accepts } of ROUTES) {
      const init = takesBody ? { body: '{}', headers: { 'Content-Type': 'application/json' } } : {}
      const caller = accepts.includes('secret') ? merchant.api : browser
      const response = await caller.send(method, `${path.replace('{id}', 'x')}?colour=red`, init)
      expect({ method, path, fields: expectProblem(response, 400, 'malformed-request') }).toEqual({
        method,
        path,
        fields: ['colour'],
      })
    }
  })

  test.each([
    ['sort=amount', ['d0', 'd1', 'd2']],
    ['sort=-amount', ['d11', 'd10', 'd9']],
    ['sort=-caseId,amount', ['d2', 'd5', 'd8']],
    ['sort=caseId,-amount', ['d9', 'd6', 'd3']],
    ['sort=createdTime', ['d0', 'd1', 'd2']],
    ['sort=status', ['d0', 'd1', 'd10']],
    ['sort=-id', ['d9', 'd8', 'd7']],
  ])('is ordered by %s, equal ones by id', async (query, expected) => {
    expect(await ids(`${query}&limit=3`)).toEqual(expected)
  })

  test.each([
    ['filter=id:d1', ['d1']],
    ['filter=id:D1,d2', ['d2', 'd1']],
    ['filter=caseId:null', ['d9', 'd6', 'd3', 'd0']],
    ['filter=caseId:case 1;amount:5..', ['d10', 'd7']],
    ['filter=amount:2..4', ['d4', 'd3', 'd2']],
    ['filter=amount:!1..11', ['d0']],
    ['filter=caseId:!case 1,!case 2', ['d9', 'd6', 'd3', 'd0']],
    ['filter=caseId:!null,case 1', ['d11', 'd8', 'd5', 'd2']],
    ['filter=category:fraud;amount:3.000', ['d3']],
    ['filter=revision:1;amount:3', ['d3']],
    ['filter=postedTime:2026-01-31T10:00:00%2B01:00;amount:3', ['d3']],
    ['filter=postedTime:..2026-01-31T08:59:59.999Z', []],
    ['filter=caseId:case', []],
    ["filter=caseId:' or 1=1", []],
    ['q=d11', ['d11']],
    ['q=CASE 1&filter=amount:..5', ['d4', 'd1']],
    ['q=%25', []],
    ['q=chargeback&limit=1', ['d11']],
    ['filter=', ['d11']],
  ])('is narrowed by %s', async (query, expected) => {
    expect(await ids(query.includes('limit') || expected.length > 1 ? query : `${query}&limit=1`)).toEqual(
      expected,
    )
  })

  test.each(['ΠΑΠΑΔΟΠΟΥΛΟΣ', 'İstanbul'])('finds %s by itself', async (name) => {
    const { body } = await merchant.api.post('websites', { name })
    const found = await merchant.api.get<Shown[]>(`websites?q=${encodeURIComponent(name)}`)
    expect(found.body.map(({ id }) => id)).toEqual([body.id])
  })

  test('takes every scalar member that a resource shows, to sort and to filter by', async () => {
    const scalars = (body: object, prefix = ''): string[] =>
      Object.entries(body).flatMap(([name, value]) =>
        name.startsWith('_') || Array.isArray(value)
          ? []
          : value !== null && typeof value === 'object'
            ? scalars(value, `${prefix}${name}.`)
            : [`${prefix}${name}`],
      )
    const { body } = await merchant.api.get<Shown[]>('disputes?limit=1')
    for (const name of scalars(body[0] ?? {})) {
      expect((await list(`sort=-${name}&filter=${name}:null`)).status).toBe(200)
    }
    // Every object of a plan is set: one that is null would pass for a scalar.
    const shift = { duration: 1, unit: 'day' }
    const plan = await merchant.api.post('plans', {
      name: 'Full',
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: 1 },
      recurringInterval: {
        unit: 'month',
        length: 1,
        periodAnchorInstruction: { method: 'day-of-month', day: 5 },
      },
      trial: { price: 1, period: { unit: 'day', length: 1 } },
      setup: { price: 1 },
      invoiceTimeShift: {
        issueTimeShift: { chronology: 'before', ...shift },
        dueTimeShift: { chronology: 'after', ...shift },
      },
    })
    const built = scalars(plan.body).filter((name) => !('x-neutral' in memberOf(plans.schema, name)))
    expect(built.length).toBeGreaterThan(25)
    for (const name of built) {
      const response = await merchant.api.get(`plans?sort=${name}&filter=${name}:!null`)
      expect({ name, status: response.status }).toEqual({ name, status: 200 })
    }
  })

  const LISTS = ROUTES.filter(
    ({ method, returns, query, path, accepts, resource }) =>
      method === 'GET' &&
      returns === 'many' &&
      accepts.includes('secret') &&
      '$id' in resource &&
      !path.replace('{type}', '').includes('{') &&
      Object.hasOwn((query as { properties?: object } | undefined)?.properties ?? {}, 'sort'),
  ).map(({ path, resource }) => [path.replace('{type}', 'webhook'), resource] as const)

  test.each(LISTS)(
    'of %s takes every scalar member to sort and to filter by, but for a few',
    async (path, schema) => {
      const refused: string[] = []
      for (const name of scalarsOf(schema)) {
        const response = await merchant.api.get(`${path}?sort=-${name}&filter=${name}:null`)
        if (response.status !== 200) refused.push(name)
      }
      expect(refused).toEqual(EXCEPTIONS[path] ?? [])
    },
  )

  test('finds customers, memos, orders and transactions by what is computed of them', async () => {
    const { api } = merchant
    const { body: customer } = await api.post('customers', { firstName: 'Rich' })
    const customerId = String(customer.id)
    const sale = { type: 'sale', customerId, currency: 'EUR' }
    for (const amount of [50, 25, 25.01]) {
      const made = await api.post('transactions', {
        ...sale,
        amount,
        paymentInstruction: { method: 'external' },
      })
      expect(made.status).toBe(201)
    }
    const shown = (await api.get(`customers/${customerId}`)).body
    expect(shown).toMatchObject({
      averageValue: { amount: 33.34, currency: 'EUR', amountUsd: null },
      lifetimeRevenue: { amount: 100.01 },
    })
    const found = async (query: string) => (await api.get<{ id: string }[]>(query)).body.map(({ id }) => id)
    for (const filter of [
      'averageValue.amount:33.34',
      'averageValue.currency:eur;averageValue.amount:33..34',
      'lifetimeRevenue.amount:100.01',
    ]) {
      expect(await found(`customers?filter=${filter}`)).toEqual([customerId])
    }
    expect((await found('customers?sort=-lifetimeRevenue.amount'))[0]).toBe(customerId)
    expect(await found('customers?filter=lifetimeRevenue.amountUsd:0')).not.toContain(customerId)
    const memo = await api.post('credit-memos', {
      customerId,
      currency: 'EUR',
      items: [{ unitPrice: 10, quantity: 1, tax: { amount: 1.9, description: 'VAT' } }],
    })
    expect(await found('credit-memos?filter=taxAmount:1.9')).toEqual([memo.body.id])
    expect(await found('credit-memos?filter=taxAmount:2..')).toEqual([])
    expect((await api.post('subscriptions', orderBody(merchant))).status).toBe(201)
    expect(
      await found('subscriptions?filter=lineItemSubtotal.amount:0;lineItemSubtotal.currency:eur'),
    ).toHaveLength(1)
    const { id } = (
      await api.put('gateway-accounts/listed', {
        gatewayName: 'TestGateway',
        method: 'payment-card',
        acceptedCurrencies: ['EUR'],
        takesCardNumbers: true,
      })
    ).body
    expect(await found('gateway-accounts?filter=method:payment-card')).toEqual([id])
    const declined = await api.post('transactions', {
      ...sale,
      amount: 5,
      paymentInstruction: { token: await makeToken(api, TEST_CARDS.lacksFunds) },
    })
    const { response } = declined.body.gateway as { response: { code: string; originalCode: string } }
    expect(response).toMatchObject({ code: expect.any(String), originalCode: expect.any(String) })
    const { code, originalCode } = response
    expect(
      await found(
        `transactions?filter=gateway.response.code:${code};gateway.response.originalCode:${originalCode}`,
      ),
    ).toEqual([declined.body.id])
  })

  test('HEAD answers like GET, without the body', async () => {
    const get = await list('limit=3')
    const head = await merchant.api.send('HEAD', 'disputes?limit=3')
    expect(head.status).toBe(200)
    expect(head.body).toBe('')
    expect(paging(head)).toEqual(paging(get))
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
  })
})

const NAMES = [
  'Ada',
  'ada',
  'ADA',
  'Grace',
  'straße',
  'null',
  'a,b',
  'a;b',
  'a:b',
  'a..b',
  '!a',
  '\\',
  "o'b",
  '%',
  ' ',
  '',
]
const TIMES = [0, 1, 1_000, 86_400_000].map((ms) => new Date(Date.UTC(2026, 0, 31) + ms))

interface Row {
  email: string | null
  firstName: string | null
  createdTime: Date
  revision: number
  customFields: Record<string, unknown>
}

interface PlanRow {
  isActive: boolean
  pricing: { formula: 'fixed-fee'; price: string }
}

describe('a filter', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const sql = (text: string, values: unknown[]) =>
    service.database.orm.em.fork().getConnection().execute(text, values)

  const name = fc.constantFrom(...NAMES)
  const row: fc.Arbitrary<Row> = fc.record({
    email: fc.option(name),
    firstName: fc.option(name),
    createdTime: fc.constantFrom(...TIMES),
    revision: fc.integer({ min: 1, max: 5 }),
    customFields: fc.dictionary(fc.constantFrom('a', 'B c'), fc.oneof(name, fc.constant(null)), {
      maxKeys: 2,
    }),
  })
  const bound = <T>(of: fc.Arbitrary<T>, print: (value: T) => string): fc.Arbitrary<FilterValue> =>
    fc.tuple(fc.option(of), fc.option(of)).map(([from, to]) =>
      from === null && to === null
        ? { kind: 'null' as const }
        : {
            kind: 'range' as const,
            from: from === null ? null : print(from),
            to: to === null ? null : print(to),
          },
    )
  const literal = <T>(of: fc.Arbitrary<T>, print: (value: T) => string): fc.Arbitrary<FilterValue> =>
    of.map((value) => ({ kind: 'literal', text: print(value) }))
  const absent = fc.constant<FilterValue>({ kind: 'null' })
  const text = fc.oneof(
    literal(
      name.filter((value) => value !== ''),
      String,
    ),
    absent,
  )
  const time = fc.constantFrom(...TIMES)
  const moment = fc.oneof(
    literal(time, (at) => at.toISOString()),
    bound(time, (at) => at.toISOString()),
  )
  const whole = fc.integer({ min: 0, max: 6 })
  const number = fc.oneof(literal(whole, String), bound(whole, String))
  const clauseOf = (field: string, value: fc.Arbitrary<FilterValue>): fc.Arbitrary<FilterClause> =>
    fc.record({
      name: fc.constant(field),
      excludes: fc.boolean(),
      values: fc.array(value, { minLength: 1, maxLength: 3 }),
    })
  const clauses = fc.array(
    fc.oneof(
      clauseOf('email', text),
      clauseOf('firstName', text),
      clauseOf('customFields.a', text),
      clauseOf('customFields.B c', text),
      clauseOf('revision', number),
      clauseOf('createdTime', moment),
    ),
    { minLength: 1, maxLength: 3 },
  )

  /** The oracle: what the grammar says, on values in memory. */
  const holds = (one: Row, { name: field, excludes, values }: FilterClause): boolean => {
    const value = field.startsWith('customFields.')
      ? (one.customFields[field.slice('customFields.'.length)] ?? null)
      : one[field as keyof Row]
    const any = values.some((wanted) => {
      if (wanted.kind === 'null') return value === null
      if (value === null) return false
      const order = (limit: string) =>
        value instanceof Date ? value.getTime() - Date.parse(limit) : Number(value) - Number(limit)
      if (wanted.kind === 'range') {
        return (
          (wanted.from === null || order(wanted.from) >= 0) && (wanted.to === null || order(wanted.to) <= 0)
        )
      }
      return typeof value === 'string'
        ? value.toLowerCase() === wanted.text.toLowerCase()
        : order(wanted.text) === 0
    })
    return any !== excludes
  }

  test('means what an oracle in memory says, on random rows', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 8 }), clauses, async (rows, filter) => {
        const { organizationId } = merchant
        await sql('delete from customers where organization_id = ?', [organizationId])
        for (const [index, one] of rows.entries()) {
          await sql(
            `insert into customers (organization_id, id, email, first_name, custom_fields, revision, created_time, updated_time)
             values (?, ?, ?, ?, ?::jsonb, ?, ?, ?)`,
            [
              organizationId,
              `c${index}`,
              one.email,
              one.firstName,
              JSON.stringify(one.customFields),
              one.revision,
              one.createdTime,
              one.createdTime,
            ],
          )
        }
        // Ids only: the rows are no customers that the API would have written.
        const query = new URLSearchParams({ filter: printFilter(filter), sort: 'id', fields: 'id' })
        const { status, body } = await merchant.api.get<Shown[]>(`customers?${query}`)
        expect(status).toBe(200)
        expect(body.map(({ id }) => id)).toEqual(
          rows.flatMap((one, index) => (filter.every((clause) => holds(one, clause)) ? [`c${index}`] : [])),
        )
      }),
      { numRuns: 150 },
    )
  }, 60_000)

  test.each<[string, (plan: PlanRow) => boolean]>([
    ['isActive:true', ({ isActive }) => isActive],
    ['isActive:!TRUE', ({ isActive }) => !isActive],
    ['pricing.price:2.50', ({ pricing }) => Number(pricing.price) === 2.5],
    ['pricing.price:1..10', ({ pricing }) => Number(pricing.price) >= 1 && Number(pricing.price) <= 10],
    ['pricing.formula:FIXED-FEE', () => true],
    ['recurringInterval.unit:month;recurringInterval.length:1', () => true],
  ])('%s reaches into objects, by type', async (filter, fits) => {
    const all = await merchant.api.get<Shown[]>('plans')
    if (all.body.length < 5) {
      for (const [price, isActive] of [
        [0.5, true],
        [2.5, false],
        [9.99, true],
        [10, false],
      ] as const) {
        const plan = { ...all.body[0], name: 'P', pricing: { formula: 'fixed-fee', price }, isActive }
        expect((await merchant.api.post('plans', plan)).status).toBe(201)
      }
    }
    const plans = (await merchant.api.get<Shown[]>('plans')).body
    const { body } = await merchant.api.get<Shown[]>(`plans?filter=${filter}`)
    expect(body).toEqual(plans.filter((plan) => fits(plan as unknown as PlanRow)))
  })

  test.each(['isActive:yes', 'pricing.price:a', 'pricing:1', 'recurringInterval.nothing:1'])(
    '%s is refused',
    async (filter) => {
      expectProblem(await merchant.api.get(`plans?filter=${filter}`), 400, 'malformed-request')
    },
  )
})

describe('over many rows', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
    const connection = service.database.orm.em.fork().getConnection()
    await connection.execute(
      `insert into disputes (organization_id, id, customer_id, transaction_id, currency, amount, reason_code, category, type,
                             status, posted_time, deadline_time, case_id, acquirer_reference_number, source, revision,
                             created_time, updated_time)
       select organization, 'd' || n, 'c' || n % 1000, 't' || n, 'EUR', 1 + n % 1000, 'code ' || n % 500,
              case n % 9 when 0 then 'fraud' else 'authorization' end, case n % 9 when 0 then 'fraud' else 'arbitration' end,
              (array['won', 'lost', 'under-review'])[1 + n % 3], now() - n * interval '1 minute',
              case when n % 3 = 0 then now() + n * interval '1 minute' end, case when n % 4 = 0 then 'case ' || n end,
              case when n % 5 = 0 then 'reference ' || n end, 'api', 1, now() - n * interval '1 second', now()
         from generate_series(1, 15000) n, (values (?), ('another')) as organizations (organization)`,
      [merchant.organizationId],
    )
    await connection.execute('analyze disputes')
  })
  afterAll(() => service.stop())

  const planOf = async (
    parameters: ListParameters,
    resource: Pick<typeof disputes | typeof subscriptions, 'fields' | 'search' | 'table'> = disputes,
  ): Promise<string> => {
    const { where, orderBy } = listQuery(parameters, resource.fields, resource.search, {
      organizationId: merchant.organizationId,
      hasCustomFields: false,
    })
    const rows = await service.database.orm.em
      .fork()
      .getConnection()
      .execute<Record<string, string>[]>(
        `explain select row.id from ${resource.table} row where row.organization_id = ? and ${where.text} order by ${orderBy.text} limit 100`,
        [merchant.organizationId, ...where.values, ...orderBy.values],
      )
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }

  test.each([
    ['the default order', {}, 'disputes_newest_index'],
    ['a filter in the default order', { filter: 'status:won;amount:10..90' }, 'disputes_'],
    [
      'a filter by status, sorted',
      { filter: 'status:won', sort: '-createdTime' },
      'disputes_status_newest_index',
    ],
    ['the default order by name', { sort: '-createdTime' }, 'disputes_newest_index'],
    ['a search for a part', { q: 'd1499' }, 'disputes_search_index'],
  ])('%s is answered from an index', async (_, parameters, index) => {
    const plan = await planOf(parameters)
    expect(plan).toContain(index)
    expect(plan).not.toContain('Seq Scan')
  })

  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()

  /** The index that a filter on each member uses: its own, or that of the default order. */
  const answeredBy = {
    id: ['D77', 'disputes_by_id_index'],
    customerId: ['c77', 'disputes_by_customer_id_index'],
    transactionId: ['t77', 'disputes_by_transaction_id_index'],
    caseId: ['case 76', 'disputes_by_case_id_index'],
    acquirerReferenceNumber: ['reference 75', 'disputes_by_acquirer_reference_number_index'],
    reasonCode: ['code 77', 'disputes_by_reason_code_index'],
    status: ['Won', 'disputes_status_newest_index'],
    postedTime: [`${at(-90)}..${at(-60)}`, 'disputes_posted_index'],
    deadlineTime: [`${at(60)}..${at(90)}`, 'disputes_by_deadline_index'],
    createdTime: [`${at(-2)}..${at(-1)}`, 'disputes_newest_index'],
    category: ['fraud', 'disputes_category_newest_index'],
    type: ['FRAUD', 'disputes_type_newest_index'],
    currency: ['EUR', 'disputes_newest_index'],
    source: ['api', 'disputes_newest_index'],
    amount: ['77', 'disputes_amount_index'],
    revision: ['1', 'disputes_newest_index'],
    updatedTime: [`${at(-90)}..${at(60)}`, 'disputes_newest_index'],
    resolvedTime: ['null', 'disputes_newest_index'],
    rawResponse: ['null', 'disputes_newest_index'],
    reasonDescription: ['null', 'disputes_newest_index'],
  } as const

  test('every member that disputes can be filtered by is here', () => {
    expect(Object.keys(answeredBy).sort()).toEqual(Object.keys(disputes.fields).sort())
  })

  test.each(Object.entries(answeredBy))(
    'a filter on %s alone is answered from an index',
    async (member, [value, index]) => {
      const plan = await planOf({ filter: `${member}:${value}` })
      expect(plan).toContain(index)
      expect(plan).not.toContain('Seq Scan')
    },
  )

  test("a customer's orders are found among all by the index of what they refer to, in any case of letters", async () => {
    const { body: placed } = await merchant.api.post('subscriptions', orderBody(merchant))
    const connection = service.database.orm.em.fork().getConnection()
    await connection.execute(
      `insert into customers (organization_id, id, created_time, updated_time)
       select ?, 'Customer' || n, now(), now() from generate_series(1, 300) n`,
      [merchant.organizationId],
    )
    await connection.execute(
      `insert into subscriptions select (jsonb_populate_record(row, jsonb_build_object(
           'id', 's' || n, 'customer_id', 'Customer' || (1 + n % 300), 'next_deadline', null))).*
         from subscriptions row, generate_series(1, 9000) n where row.id = ?`,
      [placed.id],
    )
    await connection.execute('analyze subscriptions, customers')
    const plan = await planOf({ filter: 'customerId:customer7' }, subscriptions)
    expect(plan).toContain('customers_by_id_index')
    expect(plan).toContain('subscriptions_customer_index')
    expect(plan).not.toContain('Seq Scan')
    for (const id of ['Customer7', 'customer7']) {
      const { body, headers } = await merchant.api.get<Shown[]>(`subscriptions?filter=customerId:${id}`)
      expect(headers.get('pagination-total')).toBe('30')
      expect(new Set(body.map(({ customerId }) => customerId))).toEqual(new Set(['Customer7']))
    }
    const others = await merchant.api.get<Shown[]>('subscriptions?filter=customerId:!customer7&limit=0')
    expect(others.headers.get('pagination-total')).toBe('8971')
    const mixed = await merchant.api.get<Shown[]>(
      'subscriptions?filter=customerId:customer7,none,CUSTOMER8&limit=0',
    )
    expect(mixed.headers.get('pagination-total')).toBe('60')
  })

  test('one pages past offset 1000 by createdTime', async () => {
    const first = await merchant.api.get<Shown[]>('disputes?limit=1000&offset=1000')
    const last = first.body.at(-1)
    const next = await merchant.api.get<Shown[]>(
      `disputes?limit=1&offset=1&filter=createdTime:..${last?.createdTime}`,
    )
    expect([last?.id, next.body[0]?.id]).toEqual(['d2000', 'd2001'])
    expect(first.headers.get('pagination-total')).toBe('15000')
  })
})
