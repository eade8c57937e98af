import Type, { type Static } from 'typebox'
import { Nullable, OmittedWhenUnknown, ReadOnly, resourceMembers } from './conventions.ts'

/** A tracking value. Its limit is that of URLs, so that it never costs a payment (D 4). */
const Tracked = (description: string) => Nullable(Type.String({ maxLength: 2083, description }))

const members = {
  medium: Tracked('Marketing medium.'),
  source: Tracked('Marketing source.'),
  campaign: Tracked('Marketing campaign.'),
  term: Tracked('Search term.'),
  content: Tracked('Ad content.'),
  affiliate: Tracked('Affiliate.'),
  subAffiliate: Tracked('Sub-affiliate.'),
  salesAgent: Tracked('Sales agent.'),
  clickId: Tracked('Click id.'),
  path: Tracked('Path of the landing page.'),
  referrer: Tracked('Referring URL.'),
}

/** Where a payer came from (specification 2.3). */
export const LeadSource = Type.Object(members, {
  additionalProperties: false,
  description: 'Marketing source of the payer.',
})

const { createdTime, updatedTime, _links } = resourceMembers

/** The lead source of a customer as a resource of its own. */
export const CustomerLeadSource = Type.Object(
  {
    ...members,
    original: ReadOnly(
      OmittedWhenUnknown(Type.Object(members, { description: 'First lead source of the customer.' })),
    ),
    createdTime,
    updatedTime,
    _links,
  },
  {
    $id: 'LeadSource',
    additionalProperties: false,
    description: 'Where a customer came from.',
  },
)
export type CustomerLeadSource = Static<typeof CustomerLeadSource>

/** Returns a lead source of a checked body as rows store it, or null for none. */
export function leadSourceOf(
  given: Static<typeof LeadSource> | null | undefined,
): Record<string, string | null> | null {
  if (given == null) return null
  return Object.fromEntries(
    Object.keys(members).map((name) => [name, given[name as keyof typeof members] ?? null]),
  )
}
