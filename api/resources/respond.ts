import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { invalidFieldsProblem } from '../http/problems.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { type Embedding, findEmbedded } from './embedding.ts'
import type { Presentable, Resource, ResourceRow } from './resource.ts'

/** True if the response is not the whole resource alone, so that it has no entity tag. */
export function isPart({ query }: Pick<OperationContext, 'query'>): boolean {
  return query.expand !== undefined || query.fields !== undefined
}

/** The entity tag is sent only with a whole resource. */
export async function respondWith<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
  row: Row,
): Promise<OperationResponse> {
  const [body] = await presentAll(context, resource, [row])
  return isPart(context) ? { body } : { body, revision: row.revision }
}

/**
 * Responds to a command, at its end. What the response has of other records is read in its transaction, so that it is as
 * the command leaves it, and is stored so under an `Idempotency-Key`.
 */
export async function respondIn<Row extends ResourceRow>(
  unit: UnitOfWork,
  context: OperationContext,
  resource: Resource<Row>,
  row: Row,
): Promise<OperationResponse> {
  const isRead = requireKnownExpansions(context, resource).length > 0 || resource.presentPage !== undefined
  return await respondWith(isRead ? { ...context, em: await unit.written() } : context, resource, row)
}

export async function presentAll<Row extends { readonly id: string }>(
  context: OperationContext,
  resource: Presentable<Row>,
  rows: readonly Row[],
): Promise<object[]> {
  const names = requireKnownExpansions(context, resource)
  const presented = await (resource.presentPage?.(rows, context) ??
    Promise.all(rows.map((row) => resource.present(row, context))))
  if (names.length === 0) return presented
  const embeddings: [string, Embedding<Row>][] = []
  const embedded = new Map<string, ReadonlyMap<string, unknown>>()
  for (const name of names) {
    const expander = resource.expanders?.[name]
    // One by one: in a transaction, they share its connection.
    if (typeof expander === 'function') embedded.set(name, await expander(rows, context))
    else if (expander !== undefined) embeddings.push([name, expander])
  }
  for (const [name, found] of await findEmbedded(rows, embeddings, context)) embedded.set(name, found)
  return presented.map((body, index) => ({
    ...body,
    _embedded: Object.fromEntries(
      names.map((name) => [name, embedded.get(name)?.get(rows[index]?.id ?? '') ?? null]),
    ),
  }))
}

export function requireKnownExpansions<Row>(
  context: OperationContext,
  { expanders = {} }: Pick<Presentable<Row>, 'expanders'>,
): string[] {
  const names = String(context.query.expand ?? '')
    .split(',')
    .filter((name) => name !== '')
  const unknown = names.filter((name) => !Object.hasOwn(expanders, name))
  const repeated = names.filter((name, index) => names.indexOf(name) < index)
  const [code, reason, wrong] =
    unknown.length > 0
      ? (['not-one-of', 'does not support', unknown] as const)
      : (['not-unique', 'must name only once', repeated] as const)
  if (wrong.length === 0) return names
  const message = `${reason} ${[...new Set(wrong)].slice(0, 10).join(', ')}`
  throw invalidFieldsProblem('malformed-request', [{ field: 'expand', code, message }])
}
