/** Usernames of customers, which are unique whatever the case of their letters. */
import { createHash } from 'node:crypto'

/**
 * Returns the digest by which a username is looked up: the same for every notation of one name, upper or lower case,
 * composed or decomposed. It does not depend on the database's locale, and has one length.
 */
export function usernameDigest(username: string): string {
  return createHash('sha256').update(username.normalize('NFKC').toLowerCase()).digest('hex')
}
