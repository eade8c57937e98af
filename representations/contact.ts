import { type Contact, contactHash } from '../billing/contacts.ts'

export function presentContact(contact: Contact | null | undefined) {
  return contact == null ? null : { ...contact, hash: contactHash(contact) }
}
