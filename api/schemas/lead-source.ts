import Type, { type Static } from 'typebox'
import { Nullable, Text } from './conventions.ts'

/** Where a payer came from (specification 2.3). */
export const LeadSource = Type.Object(
  {
    medium: Nullable(Text('Medium.')),
    source: Nullable(Text('Source.')),
    campaign: Nullable(Text('Campaign.')),
    term: Nullable(Text('Search term.')),
    content: Nullable(Text('Content.')),
    affiliate: Nullable(Text('Affiliate.')),
    subAffiliate: Nullable(Text('Sub-affiliate.')),
    salesAgent: Nullable(Text('Sales agent.')),
    clickId: Nullable(Text('Click id.')),
    path: Nullable(Text('Path.')),
    referrer: Nullable(Text('Referrer.')),
  },
  { additionalProperties: false, description: 'Where the payer came from.' },
)

/** A lead source of a checked body as rows keep it; null for none. */
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
