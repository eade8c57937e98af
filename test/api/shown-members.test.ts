import { describe, expect, test } from '@jest/globals'
import Type from 'typebox'
import { withoutShown } from '../../api/schemas/body-and-response.ts'
import { AsShown, Id, OrNull, ReadOnly } from '../../api/schemas/conventions.ts'

const Tax = Type.Object({ amount: Type.Number() })
const Invoice = Type.Object({
  note: Type.String(),
  items: Type.Array(
    Type.Object({
      id: ReadOnly(Id('Id.')),
      price: Type.Number(),
      tax: AsShown(OrNull(Tax)),
      parts: Type.Array(Type.Object({ name: Type.String() })),
    }),
  ),
})
const item = (at: number) => ({
  id: `item-${at}`,
  price: at,
  tax: { amount: at },
  parts: [{ name: `part of ${at}` }],
})
const items = (many: number) => Array.from({ length: many }, (_, at) => item(at))
const withoutTax = ({ tax: _, ...rest }: object & { tax: unknown }) => rest

describe('what a body repeats of its resource in members that cannot be written', () => {
  test('is dropped from items, found by their ids in any order, or by their place without one', () => {
    const [first, second] = items(2) as [ReturnType<typeof item>, ReturnType<typeof item>]
    const { id: _, ...unnamed } = second
    for (const sent of [[first, second], [second, first], [second], [first, unnamed]]) {
      expect(withoutShown(Invoice, { note: 'x', items: sent }, [{ items: [first, second] }], false)).toEqual({
        note: 'x',
        items: sent.map(withoutTax),
      })
    }
  })

  test('stays if it is of another item, or of none', () => {
    const [first, second] = items(2) as [ReturnType<typeof item>, ReturnType<typeof item>]
    for (const sent of [[{ ...first, tax: second.tax }], [second, { ...first, id: 'other' }], [item(2)]]) {
      const body = { items: sent }
      const kept = withoutShown(Invoice, body, [{ items: [first, second] }], false) as typeof body
      expect(kept.items.at(-1)).toEqual(sent.at(-1))
    }
  })

  test('is looked up once for each item, however many there are', () => {
    let reads = 0
    const counted = (stored: object) =>
      new Proxy(stored, {
        getOwnPropertyDescriptor: (target, name) => {
          reads += 1
          return Reflect.getOwnPropertyDescriptor(target, name)
        },
      })
    const readsOf = (many: number) => {
      reads = 0
      withoutShown(Invoice, { items: items(many) }, [{ items: items(many).map(counted) }], false)
      return reads
    }
    const ofTen = readsOf(10)
    expect(ofTen).toBeGreaterThan(0)
    expect(readsOf(200)).toBe(20 * ofTen)
  })

  test('is not looked for where a schema has no such member', () => {
    const Plain = Type.Object({ places: Type.Array(Type.Object({ rates: Type.Array(Tax) })) })
    const body = { places: [{ rates: [{ amount: 1 }] }] }
    expect(withoutShown(Plain, body, [body], false)).toBe(body)
  })
})
