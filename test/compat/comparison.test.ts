import { describe, expect, test } from '@jest/globals'
import { ROUTES } from '../../api/routes.ts'
import { compare, shapeOfValue } from './comparison.ts'
import { KINDS } from './facts.ts'
import { alternatives, shapeOf } from './json-shape.ts'
import { READ_ONLY, READ_ONLY_ANYWHERE } from './read-only.ts'
import { full, nulls, required } from './sampler.ts'
import { SHAPES, type ShapeName } from './shapes.ts'

const OBJECTS = (Object.keys(SHAPES) as ShapeName[]).filter((name) => 'properties' in SHAPES[name])

test.each(OBJECTS)('samples of %s have its shape', (name) => {
  for (const sample of [full, nulls, required]) expect([...compare(name, sample(name)).otherwise]).toEqual([])
})

test('samples are every writable member, nulls of all optional ones, or what is required', () => {
  expect(Object.keys(full('Website'))).toEqual(
    expect.arrayContaining(['name', 'url', 'customFields', 'settings', 'logoId']),
  )
  expect(Object.keys(full('Website'))).not.toContain('logoUrl')
  expect(nulls('Website')).toMatchObject({ id: null, customFields: null, logoUrl: null, name: 'sample name' })
  expect(Object.keys(required('Website'))).toEqual(['name', 'url', 'servicePhone', 'serviceEmail'])
})

describe('the comparison', () => {
  const website = required('Website')

  test('tells members that came from those that did not, at any depth', () => {
    const { returned, notReturned } = compare('Customer', {
      email: null,
      primaryAddress: { emails: [{ label: 'main', value: 'a@example.com' }] },
    })
    expect([...returned].toSorted()).toEqual([
      'email',
      'primaryAddress',
      'primaryAddress.emails',
      'primaryAddress.emails.label',
      'primaryAddress.emails.value',
    ])
    expect([...notReturned]).toEqual(expect.arrayContaining(['websiteId', 'primaryAddress.emails.primary']))
    expect([...notReturned]).not.toContain('leadSource.medium')
  })

  test.each<[string, ShapeName, unknown, string | null]>([
    ['an optional member that is null', 'Website', { ...website, customFields: null }, null],
    ['a member that the shape does not have', 'Website', { ...website, revision: 1 }, null],
    ['a required member that is null', 'Website', { ...website, url: null }, 'url'],
    ['another type', 'Website', { ...website, url: 1 }, 'url'],
    ['an object for a list', 'Customer', { tags: {} }, 'tags'],
    ['a value that the enumeration has', 'Dispute', { status: 'won' }, null],
    ['a value that the enumeration does not have', 'Dispute', { status: 'closed' }, 'status'],
    ['a value of an enumeration that is known in part', 'OrderTimeline', { type: 'order-voided' }, null],
    ['a value that may be null', 'Dispute', { source: null }, null],
    ['a member of an item', 'Invoice', { items: [{ type: 'debit', unitPrice: '1' }] }, 'items.unitPrice'],
    [
      'a part of a union',
      'SubscriptionPlan',
      { pricing: { formula: 'tiered', brackets: 1 } },
      'pricing.brackets',
    ],
    ['none of a union', 'SubscriptionPlan', { pricing: { formula: 'other', price: 1 } }, 'pricing'],
  ])('finds %s in %s', (_, name, value, path) => {
    expect([...compare(name, value).otherwise.keys()]).toEqual(path === null ? [] : [path])
  })

  test('tells the kinds of a resource apart', () => {
    const kinds = ['SubscriptionPlan', 'TrialOnlyPlan', 'OneTimeSalePlan'] as const
    for (const kind of kinds) expect(shapeOfValue(kinds, required(kind))).toBe(kind)
  })
})

interface Member {
  readonly readOnly?: boolean
}

/** Computed, or part of the path, the token or the card: what a body says of them has no other meaning. */
const PASSED_OVER: readonly string[] = [
  ...(KINDS.CustomField ?? []).map((name) => `${name}.name`),
  'LeadSource.original',
  ...[
    'currency',
    'discounts',
    'discountsAmount',
    'initialAmounts',
    'lineItems',
    'recurringAmounts',
    'shippingAmount',
    'shippingRates',
    'subtotalAmount',
    'taxAmount',
    'taxes',
    'total',
  ].map((name) => `OrderPreview.${name}`),
  'PaymentCard.expMonth',
  'PaymentCard.expYear',
  'ShippingRate.id',
  'WebhookCredential.type',
].toSorted()

test('what clients may write is written or refused: bodies pass over read-only members alone', () => {
  const resources = new Map(
    ROUTES.filter(({ method, takesBody, body }) => takesBody && method !== 'PATCH' && body === undefined).map(
      ({ resource }) => {
        const { $id = '', properties = {} } = resource as {
          $id?: string
          properties?: Readonly<Record<string, Member>>
        }
        return [$id, properties]
      },
    ),
  )
  const passedOver = [...resources].flatMap(([resource, properties]) => {
    const names = (KINDS[resource] ?? [resource as ShapeName]).filter((name) => name in SHAPES)
    return names.flatMap((name) => {
      const known = new Set(alternatives(shapeOf(name)).flatMap((one) => Object.keys(one.properties ?? {})))
      const readOnly = [...READ_ONLY_ANYWHERE, ...(READ_ONLY[name] ?? [])]
      return Object.entries(properties).flatMap(([member, schema]) =>
        schema.readOnly === true &&
        !('x-as-shown' in schema) &&
        known.has(member) &&
        !readOnly.includes(member)
          ? [`${name}.${member}`]
          : [],
      )
    })
  })
  expect([...new Set(passedOver)].toSorted()).toEqual(PASSED_OVER)
})
