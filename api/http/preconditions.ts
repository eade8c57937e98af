import type { Context } from 'koa'
import { Problem } from './problems.ts'
import { headerOf } from './request-headers.ts'

export type EntityTags = '*' | readonly string[]

export interface Preconditions {
  readonly ifMatch: EntityTags | null
  readonly ifNoneMatch: EntityTags | null
}

export const entityTag = (revision: number): string => `"${revision}"`

/** Throws `malformed-request` for a header that is neither `*` nor a list of entity tags (RFC 9110). */
export function readPreconditions(ctx: Context): Preconditions {
  return { ifMatch: readEntityTags(ctx, 'If-Match'), ifNoneMatch: readEntityTags(ctx, 'If-None-Match') }
}

/** Throws `precondition-failed`. A null revision means that the resource does not exist. */
export function requirePreconditions({ ifMatch, ifNoneMatch }: Preconditions, revision: number | null): void {
  if (ifMatch !== null && (revision === null || !matchesStrongly(ifMatch, revision))) {
    throw new Problem(
      'precondition-failed',
      revision === null ? 'The resource does not exist.' : `The resource is at revision ${revision}.`,
    )
  }
  if (ifNoneMatch !== null && revision !== null && matchesWeakly(ifNoneMatch, revision)) {
    throw new Problem('precondition-failed', `The resource already exists, at revision ${revision}.`)
  }
}

export function isNotModified({ ifNoneMatch }: Preconditions, revision: number): boolean {
  return ifNoneMatch !== null && matchesWeakly(ifNoneMatch, revision)
}

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g
const ENTITY_TAGS = new RegExp(`^${ENTITY_TAG.source}(?:[ \\t]*,[ \\t]*${ENTITY_TAG.source})*$`)

function readEntityTags(ctx: Context, name: string): EntityTags | null {
  const header = headerOf(ctx, name)
  if (header === null || header === '*') return header
  if (ENTITY_TAGS.test(header)) return header.match(ENTITY_TAG) ?? []
  throw new Problem('malformed-request', `${name} must be * or a list of entity tags in quotes, such as "3".`)
}

/** A weak tag (`W/"3"`) never permits a change. */
function matchesStrongly(tags: EntityTags, revision: number): boolean {
  return tags === '*' || tags.includes(entityTag(revision))
}

function matchesWeakly(tags: EntityTags, revision: number): boolean {
  return tags === '*' || tags.some((tag) => tag.replace(/^W\//, '') === entityTag(revision))
}
