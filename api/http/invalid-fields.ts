import { withoutCardNumbers } from '../../billing/cards.ts'
import type { FieldCode, FieldProblem, InvalidField } from '../../billing/errors.ts'

/** Names of members and indexes of items, from the body down. */
export type Path = readonly (string | number)[]

export interface ListedField extends FieldProblem {
  readonly field: string
  readonly pointer: string
}

export const MOST_FIELDS = 100
/** Characters of a path, and of a message. */
const LONGEST = 500
const NAMED_IN_DETAIL = 10

/** Returns a failing field by its path, whose names may contain dots. */
export function fieldAt(path: Path, code: FieldCode, message: string): InvalidField {
  const names = path.map((name) => beginning(String(name)))
  const pointer = names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return { field: names.join('.'), pointer, code, message }
}

/** Returns the first failing fields: bounded in number and length, with card numbers masked. */
export function listed(fields: Iterable<InvalidField>): ListedField[] {
  const result: ListedField[] = []
  for (const { field, pointer, code, message } of fields) {
    if (result.length === MOST_FIELDS) break
    result.push({
      field: publicText(field),
      pointer: publicText(
        pointer ?? fieldAt(field === '' ? [] : field.split('.'), code, message).pointer ?? '',
      ),
      code,
      message: publicText(message),
    })
  }
  return result
}

export function summary(fields: readonly ListedField[]): string {
  const named = fields
    .slice(0, NAMED_IN_DETAIL)
    .map(({ field, message }) => (field === '' ? message : `${field} ${message}`))
  const more = fields.length - named.length
  return [...named, ...(more > 0 ? [`${more} more in invalidFields`] : [])].join('; ')
}

function publicText(text: string): string {
  const masked = withoutCardNumbers(beginning(text))
  return masked.length <= LONGEST ? masked : `${masked.slice(0, LONGEST - 1).toWellFormed()}…`
}

/** Returns more than is shown, so that a card number that the end cuts is still recognized. */
function beginning(text: string): string {
  return text.slice(0, 2 * LONGEST)
}
