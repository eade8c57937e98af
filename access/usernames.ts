import { createHash } from 'node:crypto'

/** One digest for every notation, upper or lower case, composed or not, whatever the database's locale. */
export function usernameDigest(username: string): string {
  return createHash('sha256').update(username.normalize('NFKC').toLowerCase()).digest('hex')
}
