import { describe, expect, test } from '@jest/globals'
import {
  type CustomFieldType,
  checkedCustomFields,
  definitionProblems,
  type FieldConstraints,
} from '../../billing/custom-fields.ts'

const problemOf = (type: CustomFieldType, constraints: FieldConstraints, value: unknown) =>
  checkedCustomFields([{ name: 'x', type, constraints }], { x: value }, null).problems[0]?.message ?? null

describe('a value of a custom field', () => {
  test.each<[CustomFieldType, FieldConstraints, unknown]>([
    ['array', {}, []],
    ['array', { allowedValues: ['a', 'b'] }, ['b', 'a', 'b']],
    ['boolean', {}, false],
    ['date', {}, '2024-02-29'],
    ['datetime', {}, '2026-01-31T09:00:00+02:00'],
    ['integer', {}, -(2 ** 31)],
    ['integer', { minimum: 1, maximum: 3 }, 3],
    ['number', { minimum: 0.5 }, 0.5],
    ['string', {}, 'x'.repeat(255)],
    ['string', { maxLength: 4000 }, 'x'.repeat(4000)],
    ['string', { allowedValues: ['S', 'M'] }, 'M'],
    ['string', { pattern: '^[A-Z]{2}-\\d+$' }, 'AB-12'],
    ['string', { pattern: 'b' }, 'abc'],
    ['monetary', {}, { currency: 'EUR', amount: 25.3 }],
    ['string', {}, null],
  ])('%s %j takes %j', (type, constraints, value) => {
    expect(problemOf(type, constraints, value)).toBeNull()
  })

  test.each<[CustomFieldType, FieldConstraints, unknown, RegExp]>([
    ['array', {}, 'a', /array/],
    ['array', {}, [1], /strings/],
    ['array', {}, ['x'.repeat(256)], /255/],
    ['array', {}, Array(1001).fill('a'), /1000/],
    ['array', { allowedValues: ['a'] }, ['a', 'c'], /only contain a/],
    ['boolean', {}, 'true', /true or false/],
    ['date', {}, '2023-02-29', /date/],
    ['date', {}, '2026-01-31T09:00:00Z', /date/],
    ['datetime', {}, '2026-01-31T09:00:00', /offset/],
    ['integer', {}, 1.5, /integer/],
    ['integer', {}, 2 ** 31, /integer/],
    ['integer', {}, '1', /integer/],
    ['integer', { minimum: 1 }, 0, /less than 1/],
    ['number', { maximum: 2 }, 2.01, /greater than 2/],
    ['string', {}, 'x'.repeat(256), /255/],
    ['string', {}, 7, /string/],
    ['string', { allowedValues: ['S', 'M'] }, 'L', /S, M/],
    ['string', { pattern: '^\\d+$' }, '12a', /match/],
    ['monetary', {}, { currency: 'EUR' }, /amount/],
    ['monetary', {}, { currency: 'eur', amount: 1 }, /4217/],
    ['monetary', {}, { currency: 'JPY', amount: 1.5 }, /decimals/],
    ['monetary', {}, { currency: 'EUR', amount: 1, tax: 0 }, /currency and an amount/],
    ['monetary', {}, [], /currency and an amount/],
    ['string', { required: true }, null, /required/],
  ])('%s %j refuses %j', (type, constraints, value, message) => {
    expect(problemOf(type, constraints, value)).toMatch(message)
  })

  test('is matched in linear time, whatever the pattern', () => {
    const began = performance.now()
    expect(problemOf('string', { pattern: '^(a+)+$', maxLength: 4000 }, `${'a'.repeat(3999)}b`)).toMatch(
      /match/,
    )
    expect(performance.now() - began).toBeLessThan(2_000)
  })
})

describe('a pattern that takes long', () => {
  const LONG = `${'(.?){1000}'.repeat(25)}$`

  test.each<[string, FieldConstraints]>([
    ['takes long by itself', { pattern: LONG }],
    ['takes long for long values', { pattern: '(.?){500}$', maxLength: 4000 }],
  ])('is refused at the definition if it %s', (_, constraints) => {
    expect(definitionProblems({ type: 'string', constraints })).toEqual([
      {
        field: 'additionalSchema.pattern',
        code: 'too-long',
        message: `must be simpler for values of up to ${constraints.maxLength ?? 255} characters`,
      },
    ])
  })

  test.each<FieldConstraints>([
    { pattern: '^[a-z]+$', maxLength: 4000 },
    { pattern: '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', maxLength: 4000 },
    { pattern: '^\\+[1-9]\\d{1,14}$', maxLength: 4000 },
    { pattern: '^[\\p{L} .,-]{1,255}$', maxLength: 4000 },
    { pattern: '^.{1,1000}$', maxLength: 1000 },
    { pattern: '(.?){500}$' },
  ])('is none of the ordinary ones: %j', (constraints) => {
    expect(definitionProblems({ type: 'string', constraints })).toEqual([])
  })

  test('refuses values if it was defined before', () => {
    expect(problemOf('string', { pattern: LONG }, 'a'.repeat(255))).toMatch(/too long to be compared/)
    const constraints = { pattern: '(.?){1000}$', maxLength: 4000 }
    expect(problemOf('string', constraints, 'a'.repeat(400))).toBeNull()
    expect(problemOf('string', constraints, 'a'.repeat(4000))).toMatch(/too long to be compared/)
  })

  test.each([
    ['together', () => '(.?){500}$', 'a'.repeat(255)],
    ['to compile', (at: number) => `(?i)${'\\PL'.repeat(80)}${at}`, 'x'],
  ])('is matched for as many fields of a record as do not take too long %s', (_, patternOf, value) => {
    const names = Array.from({ length: 1000 }, (_none, at) => `field-${at}`)
    const { problems } = checkedCustomFields(
      names.map((name, at) => ({ name, type: 'string', constraints: { pattern: patternOf(at) } })),
      Object.fromEntries(names.map((name) => [name, value])),
      null,
    )
    expect(problems.at(0)?.field).not.toBe('customFields.field-999')
    expect(problems.at(-1)).toMatchObject({ field: 'customFields.field-999', code: 'too-long' })
  })

  test('of one field leaves as much to another', () => {
    const constraints = { pattern: '^.{1,1000}$', maxLength: 1000 }
    const { problems } = checkedCustomFields(
      ['first', 'second'].map((name) => ({ name, type: 'string', constraints })),
      { first: 'a'.repeat(1000), second: 'b'.repeat(1000) },
      null,
    )
    expect(problems).toEqual([])
  })
})

describe('custom fields', () => {
  const definitions = [
    { name: 'size', type: 'integer', constraints: { required: true } },
    { name: 'colour', type: 'string', constraints: { default: 'red' } },
  ] as const

  test('of a new record take defaults, and need what is required; names without a definition are free', () => {
    expect(checkedCustomFields(definitions, { size: 1, free: [{ deep: 1 }] }, null)).toEqual({
      values: { size: 1, free: [{ deep: 1 }], colour: 'red' },
      problems: [],
    })
    expect(checkedCustomFields(definitions, { colour: 7 }, null).problems).toEqual([
      { field: 'customFields.size', code: 'required', message: 'is required' },
      { field: 'customFields.colour', code: 'wrong-type', message: 'must be a string' },
    ])
  })

  test('of a known record are validated where they differ: what was stored before a definition stays', () => {
    const stored = { colour: 7 }
    expect(checkedCustomFields(definitions, stored, stored)).toEqual({ values: stored, problems: [] })
    expect(checkedCustomFields(definitions, { colour: 8 }, stored).problems).toHaveLength(1)
    expect(checkedCustomFields(definitions, {}, stored)).toEqual({ values: {}, problems: [] })
    expect(checkedCustomFields(definitions, {}, { size: 1 }).problems).toEqual([
      { field: 'customFields.size', code: 'required', message: 'is required' },
    ])
  })

  test('are their own members only', () => {
    const definition = { name: 'toString', type: 'string', constraints: { required: true } } as const
    expect(checkedCustomFields([definition], {}, null).problems).toHaveLength(1)
    expect(checkedCustomFields([definition], { toString: 'x' }, null).problems).toEqual([])
    const initial = { name: '__proto__', type: 'string', constraints: { default: 'x' } } as const
    expect(Object.entries(checkedCustomFields([initial], {}, null).values)).toEqual([['__proto__', 'x']])
  })
})

describe('a definition', () => {
  test.each<[CustomFieldType, FieldConstraints, string[]]>([
    ['boolean', { minimum: 1, pattern: 'x' }, ['minimum', 'pattern']],
    ['integer', { allowedValues: ['1'] }, ['allowedValues']],
    ['array', { maxLength: 3 }, ['maxLength']],
    ['number', { minimum: 2, maximum: 1 }, ['minimum']],
    ['string', { pattern: '(' }, ['pattern']],
    ['string', { pattern: '(?=a)b' }, ['pattern']],
    ['string', { pattern: '(a)\\1' }, ['pattern']],
    ['integer', { maximum: 3, default: 4 }, ['default']],
    ['monetary', { default: { currency: 'EUR' } }, ['default']],
  ])('%s %j is refused', (type, constraints, names) => {
    expect(definitionProblems({ type, constraints }).map(({ field }) => field)).toEqual(
      names.map((name) => `additionalSchema.${name}`),
    )
  })

  test('with constraints of its type is accepted', () => {
    const constraints = {
      allowedValues: ['a', 'b'],
      maxLength: 3,
      pattern: '^[ab]',
      required: true,
      default: 'a',
    }
    expect(definitionProblems({ type: 'string', constraints })).toEqual([])
  })
})
