import { createHash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'

export interface Reachable {
  label: string | null
  value: string
  primary: boolean
}

export interface Contact {
  firstName: string | null
  lastName: string | null
  organization: string | null
  address: string | null
  address2: string | null
  city: string | null
  region: string | null
  /** ISO 3166, two letters. */
  country: string | null
  postalCode: string | null
  phoneNumbers: Reachable[]
  emails: Reachable[]
  /** YYYY-MM-DD */
  dob: string | null
  jobTitle: string | null
}

/** Equal contacts have equal digests; missing, null and empty members do not count. */
export function contactHash(contact: Contact): string {
  const filled = Object.entries(contact).filter(
    ([, value]) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0),
  )
  return createHash('sha256')
    .update(canonicalJson(Object.fromEntries(filled)))
    .digest('hex')
}
