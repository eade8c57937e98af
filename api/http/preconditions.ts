/** `If-Match` and `If-None-Match` (RFC 9110) against a resource's revision. */
import { Problem } from './problems.ts'

export interface Preconditions {
  readonly ifMatch: string | null
  readonly ifNoneMatch: string | null
}

export const entityTag = (revision: number): string => `"${revision}"`

/**
 * Checks the preconditions of a change; a null revision means that the resource does not exist.
 * @throws Problem `precondition-failed`
 */
export function requirePreconditions({ ifMatch, ifNoneMatch }: Preconditions, revision: number | null): void {
  if (ifMatch !== null && (revision === null || !lists(ifMatch, revision))) {
    throw new Problem(
      'precondition-failed',
      revision === null ? 'The resource does not exist.' : `The resource is at revision ${revision}.`,
    )
  }
  if (ifNoneMatch !== null && revision !== null && lists(ifNoneMatch, revision)) {
    throw new Problem('precondition-failed', `The resource already exists, at revision ${revision}.`)
  }
}

/** True if the reader has this revision already (304). */
export function isNotModified({ ifNoneMatch }: Preconditions, revision: number): boolean {
  return ifNoneMatch !== null && lists(ifNoneMatch, revision)
}

/** True if the list of entity tags, weak or strong, or `*` matches the revision. */
function lists(header: string, revision: number): boolean {
  return header.split(',').some((tag) => {
    const trimmed = tag.trim()
    return trimmed === '*' || trimmed.replace(/^W\//, '') === entityTag(revision)
  })
}
