import Type, { type Static } from 'typebox'
import { Nullable, OmittedWhenUnknown, ReadOnly, resourceMembers } from './conventions.ts'

/** The longest URL that browsers agree on (D 4). */
const LONGEST = 2083

const sourceMembers = (options: object) => {
  const text = (description: string) => Nullable(Type.String({ description, ...options }))
  return {
    medium: text('Marketing medium.'),
    source: text('Marketing source.'),
    campaign: text('Marketing campaign.'),
    term: text('Search term.'),
    content: text('Ad content.'),
    affiliate: text('Affiliate.'),
    subAffiliate: text('Sub-affiliate.'),
    salesAgent: text('Sales agent.'),
    clickId: text('Click id.'),
    path: text('Path of the landing page.'),
    referrer: text('Referring URL.'),
  }
}
const members = sourceMembers({ maxLength: LONGEST })

/** Specification 2.3. */
export const LeadSource = Type.Object(members, {
  title: 'MarketingSource',
  additionalProperties: false,
  description: 'Marketing source of the payer.',
})

const { createdTime, updatedTime, _links } = resourceMembers

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

/** As `LeadSource`, but longer texts are cut: no payment is refused for its tracking. */
export const TokenLeadSource = Type.Object(
  {
    ...sourceMembers({}),
    original: ReadOnly(Type.Object({}, { description: 'The first marketing source of the payer.' })),
    _links: ReadOnly(Type.Array(Type.Object({}))),
  },
  {
    additionalProperties: false,
    description: `Marketing source of the payer. Texts longer than ${LONGEST.toLocaleString('en')} characters are cut.`,
  },
)
export type CustomerLeadSource = Static<typeof CustomerLeadSource>

export function leadSourceOf(
  given: Static<typeof LeadSource> | Static<typeof TokenLeadSource> | null | undefined,
): Record<string, string | null> | null {
  if (given == null) return null
  return Object.fromEntries(
    Object.keys(LeadSource.properties).map((name) => {
      const text = given[name as keyof typeof LeadSource.properties] ?? null
      return [name, text === null ? null : text.slice(0, LONGEST).toWellFormed()]
    }),
  )
}
