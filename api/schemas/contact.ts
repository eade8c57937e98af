import Type, { type Static, type TSchema } from 'typebox'
import type { Reachable, Contact as StoredContact } from '../../billing/contacts.ts'
import { Nullable, ReadOnly, Text } from './conventions.ts'

const reachable = (value: TSchema, description: string) =>
  Type.Optional(
    Type.Array(
      Type.Object(
        {
          label: Nullable(Text('Label, such as home or work.')),
          value: value as ReturnType<typeof Text>,
          primary: Type.Optional(
            Type.Boolean({ default: false, description: 'Whether this entry is the preferred one.' }),
          ),
        },
        { additionalProperties: false, description: 'A way to reach a person.' },
      ),
      { maxItems: 20, default: [], description },
    ),
  )

/** Specification 2.2. */
export const Contact = Type.Object(
  {
    firstName: Nullable(Text('Given name.')),
    lastName: Nullable(Text('Family name.')),
    organization: Nullable(Text('Company.')),
    address: Nullable(Text('Street and number.')),
    address2: Nullable(Text('Second line of the address.')),
    city: Nullable(Text('City.')),
    region: Nullable(Text('State, province or county.')),
    country: Nullable(
      Type.String({ pattern: '^[A-Z]{2}$', description: 'Two-letter ISO 3166 country code.' }),
    ),
    postalCode: Nullable(Text('Postal code.')),
    phoneNumbers: reachable(Text('Telephone number.'), 'Telephone numbers.'),
    emails: reachable(
      Type.String({ format: 'email', maxLength: 255, description: 'E-mail address.' }),
      'E-mail addresses.',
    ),
    dob: Nullable(Type.String({ format: 'date', description: 'Date of birth.' })),
    jobTitle: Nullable(Text('Job title.')),
    hash: ReadOnly(
      Type.String({ description: 'Digest of the other members. Equal contacts have equal digests.' }),
    ),
  },
  {
    title: 'Contact',
    additionalProperties: false,
    description: 'A postal address with the ways to reach a person.',
  },
)
export type ContactBody = Static<typeof Contact>

export function contactOf(given: ContactBody | null | undefined): StoredContact | null {
  if (given == null) return null
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
    phoneNumbers: reachablesOf(given.phoneNumbers),
    emails: reachablesOf(given.emails),
    dob: given.dob ?? null,
    jobTitle: given.jobTitle ?? null,
  }
}

export function reachablesOf(given: ContactBody['emails'] = []): Reachable[] {
  return given.map(({ label, value, primary }) => ({
    label: label ?? null,
    value,
    primary: primary ?? false,
  }))
}
