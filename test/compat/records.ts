import type { Call } from './call.ts'
import { isObject, type Json } from './json-shape.ts'

export type Records = Record<string, unknown>

/** @throws Error if no earlier response has what fills a parameter. */
export function pathOf({ operation, of = [] }: Call, records: Records): string {
  const [, path = ''] = operation.split(' ')
  const names = [...of]
  return path.replaceAll(/\{\w+\}/g, () => {
    const name = names.shift() ?? ''
    return encodeURIComponent(name.startsWith('=') ? name.slice(1) : String(recordOf(name, records)))
  })
}

/** Returns a body in which `{customer}` is the id of that record, and `{receiver.url}` a member of it. */
export function filledIn(value: Json, records: Records): Json {
  if (typeof value === 'string') {
    const [, name] = /^\{([\w.]+)\}$/.exec(value) ?? []
    return name === undefined ? value : (recordOf(name, records) as Json)
  }
  if (Array.isArray(value)) return value.map((item) => filledIn(item, records))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, filledIn(member, records)]))
}

function recordOf(name: string, records: Records): unknown {
  const [first = '', ...members] = name.split('.')
  const found = (members.length === 0 && isObject(records[first]) ? ['id'] : members).reduce<unknown>(
    (value, member) => (value as Record<string, unknown> | undefined)?.[member],
    records[first],
  )
  if (found === undefined || found === null) throw new Error(`no earlier response has ${name}`)
  return found
}
