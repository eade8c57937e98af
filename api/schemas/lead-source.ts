import Type, { type Static } from 'typebox'
import { Nullable, Text } from './conventions.ts'

/** Where a payer came from (specification 2.3). */
export const LeadSource = Type.Object(
  {
    medium: Nullable(Text('Marketing medium.')),
    source: Nullable(Text('Marketing source.')),
    campaign: Nullable(Text('Marketing campaign.')),
    term: Nullable(Text('Search term.')),
    content: Nullable(Text('Ad content.')),
    affiliate: Nullable(Text('Affiliate.')),
    subAffiliate: Nullable(Text('Sub-affiliate.')),
    salesAgent: Nullable(Text('Sales agent.')),
    clickId: Nullable(Text('Click id.')),
    path: Nullable(Text('Path of the landing page.')),
    referrer: Nullable(Text('Referring URL.')),
  },
  { additionalProperties: false, description: 'Marketing source of the payer.' },
)

/** Returns a lead source of a checked body as rows store it, or null for none. */
export function leadSourceOf(
  given: Static<typeof LeadSource> | null | undefined,
): Record<string, string | null> | null {
  if (given == null) return null
  return Object.fromEntries(
    Object.keys(LeadSource.properties).map((name) => [
      name,
      given[name as keyof typeof LeadSource.properties] ?? null,
    ]),
  )
}
