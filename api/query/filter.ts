/**
 * The filter grammar: `field:value;other:!a,b;amount:10..20`. `;` is and, `,` is or; `!` before the first
 * value excludes every value of the list; `a..b`, `a..` and `..b` are inclusive ranges; `null` matches a missing
 * value; a backslash escapes. The first unescaped `:` ends the name.
 */
import type { FieldCode } from '../../billing/errors.ts'

/** Text is unescaped; its meaning depends on the type of the field. */
export type FilterValue =
  | { readonly kind: 'null' }
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'range'; readonly from: string | null; readonly to: string | null }

export interface FilterClause {
  readonly name: string
  readonly excludes: boolean
  readonly values: readonly FilterValue[]
}

export class FilterSyntaxError extends Error {
  override readonly name = 'FilterSyntaxError'
  readonly code: FieldCode

  constructor(message: string, code: FieldCode = 'wrong-format') {
    super(message)
    this.code = code
  }
}

/** Ranges are recognized only in clauses whose field `hasRanges`. Throws FilterSyntaxError. */
export function parseFilter(text: string, hasRanges: (name: string) => boolean): FilterClause[] {
  const clauses = split(tokens(text), ';').map((clause) => parseClause(clause, hasRanges))
  const values = clauses.reduce((sum, clause) => sum + clause.values.length, 0)
  if (values > MOST_VALUES) {
    throw new FilterSyntaxError(`must not have more than ${MOST_VALUES} values`, 'too-many')
  }
  return clauses
}

/** Values of all clauses together; each costs the database a comparison per row. */
const MOST_VALUES = 100

/** Returns a text that `parseFilter` parses into the same clauses. */
export function printFilter(clauses: readonly FilterClause[]): string {
  return clauses
    .map(
      ({ name, excludes, values }) =>
        `${escaped(name)}:${excludes ? '!' : ''}${values.map(printValue).join(',')}`,
    )
    .join(';')
}

interface Token {
  readonly char: string
  readonly literal: boolean
}

function tokens(text: string): Token[] {
  const result: Token[] = []
  for (let index = 0; index < text.length; index += 1) {
    const literal = text[index] === '\\'
    if (literal) index += 1
    const char = text[index]
    if (char === undefined) throw new FilterSyntaxError('must not end with a backslash')
    result.push({ char, literal })
  }
  return result
}

function parseClause(clause: readonly Token[], hasRanges: (name: string) => boolean): FilterClause {
  const colon = clause.findIndex(({ char, literal }) => char === ':' && !literal)
  if (colon < 1) throw new FilterSyntaxError('must consist of conditions of the form field:value')
  const name = plain(clause.slice(0, colon))
  const values = split(clause.slice(colon + 1), ',')
  const negated = values.map(([first]) => first !== undefined && first.char === '!' && !first.literal)
  const excludes = negated[0] === true
  if (!excludes && negated.includes(true)) {
    throw new FilterSyntaxError(`${name}: put the ! before the first value to leave out all of them`)
  }
  return {
    name,
    excludes,
    values: values.map((value, index) =>
      parseValue(negated[index] ? value.slice(1) : value, name, hasRanges(name)),
    ),
  }
}

function parseValue(value: readonly Token[], name: string, ranges: boolean): FilterValue {
  if (value.length === 0) throw new FilterSyntaxError(`${name}: a value is empty`)
  const text = plain(value)
  if (text === 'null' && !value[0]?.literal) return { kind: 'null' }
  const dots = ranges
    ? value.findIndex(({ char, literal }, index) => isDot(char, literal) && isDotAt(value, index + 1))
    : -1
  if (dots < 0) return { kind: 'literal', text }
  const [from, to] = [plain(value.slice(0, dots)), plain(value.slice(dots + 2))]
  if (from === '' && to === '') throw new FilterSyntaxError(`${name}: a range needs at least one end`)
  return { kind: 'range', from: from === '' ? null : from, to: to === '' ? null : to }
}

function isDotAt(value: readonly Token[], index: number): boolean {
  const token = value[index]
  return token !== undefined && isDot(token.char, token.literal)
}

const isDot = (char: string, literal: boolean): boolean => char === '.' && !literal

function split(all: readonly Token[], separator: string): Token[][] {
  const parts: Token[][] = [[]]
  for (const token of all) {
    if (token.char === separator && !token.literal) parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts
}

const plain = (part: readonly Token[]): string => part.map(({ char }) => char).join('')

function printValue(value: FilterValue): string {
  switch (value.kind) {
    case 'null':
      return 'null'
    case 'literal':
      return value.text === 'null' ? '\\null' : escaped(value.text)
    case 'range':
      return `${escaped(value.from ?? '')}..${escaped(value.to ?? '')}`
  }
}

/** Escapes a dot too, so that text never parses as a range. */
function escaped(text: string): string {
  return text.replaceAll(/[\\:;,!.]/g, (char) => `\\${char}`)
}
