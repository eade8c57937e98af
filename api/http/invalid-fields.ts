/** Failing fields as problems list them: bounded in number and length, each with its path in two notations. */
import { withoutCardNumbers } from '../../billing/cards.ts'
import type { FieldCode, FieldProblem, InvalidField } from '../../billing/errors.ts'

/** Names of members and indexes of items, from the body down. */
export type Path = readonly (string | number)[]

export interface ListedField extends FieldProblem {
  readonly field: string
  readonly pointer: string
}

/** A problem lists at most so many failing fields. */
export const MOST_FIELDS = 100
/** Most characters of a path, and of a message. */
const LONGEST = 500
/** Failing fields that the detail names. */
const NAMED_IN_DETAIL = 10

/** Returns a failing field by its path, whose names may contain dots. */
export function fieldAt(path: Path, code: FieldCode, message: string): InvalidField {
  const names = path.map((name) => beginning(String(name)))
  const pointer = names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return { field: names.join('.'), pointer, code, message }
}

/** Returns the first failing fields, with their paths and messages shortened and card numbers in them masked. */
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

/** Returns a sentence that names the first of the fields. */
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

/** Returns more of a text than is shown: a card number at the end of what is shown is still recognized. */
function beginning(text: string): string {
  return text.slice(0, 2 * LONGEST)
}
