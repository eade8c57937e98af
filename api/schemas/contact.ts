import Type, { type Static, type TSchema } from 'typebox'
import type { Contact as StoredContact } from '../../billing/contacts.ts'
import { Nullable, ReadOnly, Text } from './conventions.ts'

const reachable = (value: TSchema, description: string) =>
  Type.Optional(
    Type.Array(
      Type.Object(
        {
          label: Nullable(Text('What it is: home, work.')),
          value: value as ReturnType<typeof Text>,
          primary: Type.Optional(Type.Boolean({ default: false, description: 'Whether it is tried first.' })),
        },
        { additionalProperties: false },
      ),
      { maxItems: 20, default: [], description },
    ),
  )

/** A contact object (specification 2.2). */
export const Contact = Type.Object(
  {
    firstName: Nullable(Text('Given name.')),
    lastName: Nullable(Text('Family name.')),
    organization: Nullable(Text('Company.')),
    address: Nullable(Text('Street and number.')),
    address2: Nullable(Text('More of the address.')),
    city: Nullable(Text('City.')),
    region: Nullable(Text('State, province or county.')),
    country: Nullable(Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166 code of two letters.' })),
    postalCode: Nullable(Text('Postal code.')),
    phoneNumbers: reachable(Text('The number.'), 'Telephone numbers.'),
    emails: reachable(
      Type.String({ format: 'email', maxLength: 255, description: 'The address.' }),
      'E-mail addresses.',
    ),
    dob: Nullable(Type.String({ format: 'date', description: 'Date of birth.' })),
    jobTitle: Nullable(Text('Position.')),
    hash: ReadOnly(Type.String({ description: 'Digest of all the others: equal contacts have equal ones.' })),
  },
  { additionalProperties: false, description: 'Where somebody can be reached.' },
)
export type ContactBody = Static<typeof Contact>

/** A contact of a checked body as rows keep it; null for none. */
export function contactOf(given: ContactBody | null | undefined): StoredContact | null {
  if (given == null) return null
  const reached = (list: ContactBody['emails'] = []) =>
    list.map(({ label, value, primary }) => ({ label: label ?? null, value, primary: primary ?? false }))
  return {
    firstName: given.firstName ?? null,
    lastName: given.lastName ?? null,
    organization: given.organization ?? null,
    address: given.address ?? null,
    address2: given.address2 ?? null,
    city: given.city ?? null,
    region: given.region ?? null,
    country: given.country ?? null,
    postalCode: given.postalCode ?? null,
    phoneNumbers: reached(given.phoneNumbers),
    emails: reached(given.emails),
    dob: given.dob ?? null,
    jobTitle: given.jobTitle ?? null,
  }
}
