import type { Context } from 'koa'
import rawBody from 'raw-body'
import type { InvalidField } from '../../billing/errors.ts'
import { Money } from '../../billing/money.ts'
import { fieldAt, type Path } from './invalid-fields.ts'
import { invalidFieldsProblem, Problem, problemOfFields } from './problems.ts'

const LARGEST_BODY = 1024 * 1024
/** Levels of objects and arrays, the body included. */
const DEEPEST = 32

export interface JsonBody {
  /** Null if it is nested too deeply. */
  readonly value: unknown
  /** Set if the value is too deep, or would be returned differently. */
  readonly problem: Problem | null
}

/** Throws a problem for a body that is not JSON or that `readBytes` refuses. */
export async function readJsonBody(ctx: Context): Promise<JsonBody> {
  if (ctx.get('Content-Type') === '' || !ctx.request.is('json', '+json')) {
    throw new Problem('unsupported-media-type', 'Send the body as JSON, with Content-Type: application/json.')
  }
  const text = decoded(await readBytes(ctx))
  const parsed = parseJson(text)
  const tooDeep = pathTooDeep(parsed, [])
  if (tooDeep !== null) {
    const message = `must not be nested more than ${DEEPEST} levels deep`
    const field = fieldAt(tooDeep, 'too-deep', message)
    return { value: null, problem: invalidFieldsProblem('validation-error', [field]) }
  }
  const { value, inexact } = MAY_BE_INEXACT.test(text)
    ? withInexactNumbers(text)
    : { value: parsed, inexact: new Map() }
  return { value, problem: problemOfFields('validation-error', alteredValues(value, [], inexact)) }
}

/** Throws a problem for a body that is encoded, too large or incomplete. */
export async function readBytes(ctx: Context): Promise<Buffer> {
  const encoding = ctx.get('Content-Encoding')
  if (encoding !== '' && encoding !== 'identity') {
    throw new Problem('unsupported-media-type', 'Send the body without a Content-Encoding.')
  }
  return await rawBody(ctx.req, { limit: LARGEST_BODY, length: ctx.request.length ?? null }).catch(
    (error: unknown) => {
      const type = Error.isError(error) && 'type' in error ? error.type : ''
      if (type === 'entity.too.large')
        throw new Problem('payload-too-large', 'The request body is larger than 1 MiB.')
      throw new Problem('malformed-request', 'The request body is incomplete.', {}, { cause: error })
    },
  )
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Problem('malformed-request', 'The request body is not valid JSON in UTF-8.')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem('malformed-request', 'The request body is not valid JSON in UTF-8.')
  }
}

function pathTooDeep(value: unknown, path: Path): Path | null {
  if (!isContainer(value)) return null
  if (path.length === DEEPEST) return path
  for (const name in value) {
    const member = value[name]
    const found = isContainer(member) ? pathTooDeep(member, [...path, name]) : null
    if (found !== null) return found
  }
  return null
}

/** Every double keeps 15 significant digits. */
const MAY_BE_INEXACT = /\d[\d.]{15}|\d[eE]/

type InexactNumbers = ReadonlyMap<object, ReadonlySet<string>>

/** `JSON.parse` of the runtime also passes the text of a number. */
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (this: object, name: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown

/** Finds the numbers whose shortest double notation is another number than their text. */
function withInexactNumbers(text: string): { readonly value: unknown; readonly inexact: InexactNumbers } {
  const inexact = new Map<object, Set<string>>()
  const document = parseWithSource(text, function (name, value, { source = '' }) {
    if (typeof value === 'number' && !isExact(source, value)) {
      inexact.set(this, (inexact.get(this) ?? new Set()).add(name))
    }
    return value
  })
  return { value: document, inexact }
}

function isExact(source: string, value: number): boolean {
  if (!Number.isFinite(value)) return false
  // An exponent can be too small for the decimal as well.
  return value === 0 ? /^[-0.]+(e|$)/i.test(source) : new Money(source).equals(value)
}

/** Yields numbers that no double keeps, and texts that PostgreSQL cannot store (NUL, half a surrogate pair). */
function* alteredValues(value: unknown, path: Path, inexact: InexactNumbers): Generator<InvalidField> {
  if (typeof value === 'string' && !isStorable(value)) {
    yield fieldAt(path, 'wrong-format', 'must not contain a NUL character or an unpaired surrogate')
  } else if (isContainer(value)) {
    const numbers = inexact.get(value)
    for (const name in value) {
      const member = value[name]
      if (!isStorable(name)) {
        const message = 'must not have a name with a NUL character or an unpaired surrogate'
        yield fieldAt([...path, name], 'wrong-format', message)
      }
      if (numbers?.has(name)) {
        yield fieldAt(
          [...path, name],
          'too-precise',
          'must not have more digits than a double-precision number keeps',
        )
      }
      if (isContainer(member) || typeof member === 'string')
        yield* alteredValues(member, [...path, name], inexact)
    }
  }
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}
