/** `If-Match` and `If-None-Match` (RFC 9110) against a resource's revision. */
import { Problem } from './problems.ts'

export interface Preconditions {
  readonly ifMatch: string | null
  readonly ifNoneMatch: string | null
}

/** The entity tag of a revision. */
export const entityTag = (revision: number): string => `"${revision}"`

/**
 * Holds a change to the caller's conditions; null stands for a resource that does not exist.
 *
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

/** Whether a reader has this revision already (304). */
export function isNotModified({ ifNoneMatch }: Preconditions, revision: number): boolean {
  return ifNoneMatch !== null && lists(ifNoneMatch, revision)
}

/** Whether a list of entity tags, weak ones among them, or `*` names the revision. */
function lists(header: string, revision: number): boolean {
  return header.split(',').some((tag) => {
    const trimmed = tag.trim()
    return trimmed === '*' || trimmed.replace(/^W\//, '') === entityTag(revision)
  })
}
