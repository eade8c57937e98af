import { describe, expect, test } from '@jest/globals'
import { compare, shapeOfValue } from './comparison.ts'
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
