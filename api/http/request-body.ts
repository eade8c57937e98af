/** Reads a JSON body after checks of its type, size and text. */
import type { Context } from 'koa'
import rawBody from 'raw-body'
import type { InvalidField } from '../../billing/errors.ts'
import { Problem, summary } from './problems.ts'

const LARGEST_BODY = 1024 * 1024

export async function readJsonBody(ctx: Context): Promise<unknown> {
  if (ctx.get('Content-Type') === '' || !ctx.request.is('json', '+json')) {
    throw new Problem('unsupported-media-type', 'Send the body as JSON, with Content-Type: application/json.')
  }
  const encoding = ctx.get('Content-Encoding')
  if (encoding !== '' && encoding !== 'identity') {
    throw new Problem('unsupported-media-type', 'Send the body without a Content-Encoding.')
  }
  const bytes = await rawBody(ctx.req, { limit: LARGEST_BODY, length: ctx.request.length ?? null }).catch(
    (error: unknown) => {
      const type = Error.isError(error) && 'type' in error ? error.type : ''
      if (type === 'entity.too.large')
        throw new Problem('payload-too-large', 'The request body is larger than 1 MiB.')
      throw new Problem('malformed-request', 'The request body is incomplete.', {}, { cause: error })
    },
  )
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Problem('malformed-request', 'The request body is not valid JSON in UTF-8.')
  }
  const unstorable = [...unstorableTexts(body, '')]
  if (unstorable.length > 0)
    throw new Problem('validation-error', summary(unstorable), { invalidFields: unstorable })
  return body
}

/** Yields texts that the database cannot store unchanged: with a NUL character or half a surrogate pair. */
function* unstorableTexts(value: unknown, field: string): Generator<InvalidField> {
  if (typeof value === 'string') {
    if (!isStorable(value))
      yield { field, message: 'must not contain a NUL character or an unpaired surrogate' }
  } else if (value !== null && typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) {
      const path = field === '' ? name : `${field}.${name}`
      if (!isStorable(name))
        yield { field: path, message: 'must not have a name with a NUL character or an unpaired surrogate' }
      yield* unstorableTexts(member, path)
    }
  }
}

export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}
