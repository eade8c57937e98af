import { describe, expect, test } from '@jest/globals'
import { type FilterClause, FilterSyntaxError, parseFilter, printFilter } from '../../../api/query/filter.ts'
import fc from '../../support/fast-check.ts'

const ranges = () => true
const text = fc.string({
  minLength: 1,
  unit: fc.constantFrom('a', 'B', 'n', '.', ',', ';', ':', '!', '\\', ' ', 'é'),
})
const value = fc.oneof(
  fc.constant({ kind: 'null' as const }),
  fc.oneof(text, fc.constant('null')).map((literal) => ({ kind: 'literal' as const, text: literal })),
  fc
    .tuple(fc.option(text), fc.option(text))
    .filter(([from, to]) => from !== null || to !== null)
    .map(([from, to]) => ({ kind: 'range' as const, from, to })),
)
const clause: fc.Arbitrary<FilterClause> = fc.record({
  name: text,
  excludes: fc.boolean(),
  values: fc.array(value, { minLength: 1, maxLength: 4 }),
})

describe('the filter grammar', () => {
  test('parses what it prints', () => {
    fc.assert(
      fc.property(fc.array(clause, { minLength: 1, maxLength: 4 }), (clauses) => {
        expect(parseFilter(printFilter(clauses), ranges)).toEqual(clauses)
      }),
      { numRuns: 3_000 },
    )
  })

  test('either parses a text or says why not', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '.', ',', ';', ':', '!', '\\', 'n') }), (given) => {
        try {
          parseFilter(given, ranges)
        } catch (error) {
          expect(error).toBeInstanceOf(FilterSyntaxError)
        }
      }),
      { numRuns: 3_000 },
    )
  })

  test.each([
    ['status:won', [{ name: 'status', excludes: false, values: [{ kind: 'literal', text: 'won' }] }]],
    [
      's:!a,b',
      [
        {
          name: 's',
          excludes: true,
          values: [
            { kind: 'literal', text: 'a' },
            { kind: 'literal', text: 'b' },
          ],
        },
      ],
    ],
    [
      's:!a,!b',
      [
        {
          name: 's',
          excludes: true,
          values: [
            { kind: 'literal', text: 'a' },
            { kind: 'literal', text: 'b' },
          ],
        },
      ],
    ],
    ['n:1..2', [{ name: 'n', excludes: false, values: [{ kind: 'range', from: '1', to: '2' }] }]],
    [
      't:2026-01-01T00:00:00Z..',
      [{ name: 't', excludes: false, values: [{ kind: 'range', from: '2026-01-01T00:00:00Z', to: null }] }],
    ],
    ['s:null', [{ name: 's', excludes: false, values: [{ kind: 'null' }] }]],
    ['s:\\null', [{ name: 's', excludes: false, values: [{ kind: 'literal', text: 'null' }] }]],
    ['s:a\\,b', [{ name: 's', excludes: false, values: [{ kind: 'literal', text: 'a,b' }] }]],
  ])('reads %s', (given, clauses) => {
    expect(parseFilter(given, ranges)).toEqual(clauses)
  })

  test.each(['', 'a', ':a', 'a:', 'a:b,', 'a:b,!c', 'a:..', 'a:b\\', 'a:b;'])('refuses %j', (given) => {
    expect(() => parseFilter(given, ranges)).toThrow(FilterSyntaxError)
  })

  test('text with two dots is a range only where the field has ranges', () => {
    expect(parseFilter('s:a..b', () => false)[0]?.values).toEqual([{ kind: 'literal', text: 'a..b' }])
  })
})
