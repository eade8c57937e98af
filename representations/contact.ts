import { type Contact, contactHash } from '../billing/contacts.ts'

/** A contact as the API and events show it; null for none. */
export function presentContact(contact: Contact | null | undefined) {
  return contact == null ? null : { ...contact, hash: contactHash(contact) }
}
