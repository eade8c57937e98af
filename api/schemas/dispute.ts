import Type, { type Static } from 'typebox'
import { DISPUTE_CATEGORIES } from '../../billing/dispute-categories.ts'
import { DISPUTE_STATUSES, DISPUTE_TYPES, type DisputeType } from '../../billing/disputes.ts'
import {
  Amount,
  EnumWithReadOnlyValues,
  Id,
  Instant,
  Nullable,
  OrNull,
  ReadOnly,
  resourceMembers,
  Text,
} from './conventions.ts'

/** No request opens such a dispute. */
const ONLY_IN_RESPONSES: readonly DisputeType[] = ['paypal-claim']
const IN_REQUESTS = DISPUTE_TYPES.filter((type) => !ONLY_IN_RESPONSES.includes(type))

export const Dispute = Type.Object(
  {
    ...resourceMembers,
    customerId: ReadOnly(OrNull(Id('Customer of the disputed transaction.'))),
    transactionId: Id('Transaction that is disputed.'),
    currency: Type.String({ format: 'currency', description: 'ISO 4217 code.' }),
    amount: Amount('Disputed amount.', { exclusiveMinimum: 0 }),
    acquirerReferenceNumber: Nullable(Text('Acquirer reference number.')),
    caseId: Nullable(Text("The issuer's case number.")),
    reasonCode: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Reason code of the card network or bank.',
    }),
    reasonDescription: ReadOnly(
      OrNull(
        Type.String({
          maxLength: 512,
          description: "The card network's text for the reason code. null for an unknown one.",
        }),
      ),
    ),
    category: ReadOnly(Type.Enum([...DISPUTE_CATEGORIES])),
    type: EnumWithReadOnlyValues<DisputeType>(IN_REQUESTS, ONLY_IN_RESPONSES, {
      description: 'Type of the dispute.',
    }),
    status: Type.Enum([...DISPUTE_STATUSES]),
    postedTime: Instant('When the dispute was posted.'),
    deadlineTime: Nullable(
      Instant('Latest time for a representment. If it passes without one, the dispute is lost.'),
    ),
    rawResponse: ReadOnly(OrNull(Type.String({ description: 'Raw response of the gateway.' }))),
    resolvedTime: ReadOnly(OrNull(Instant('When the dispute was won, lost or forfeited.'))),
    source: ReadOnly(OrNull(Type.Enum(['api', 'manual', 'sftp', 'webhook']))),
  },
  { $id: 'Dispute', additionalProperties: false, description: 'A dispute of a transaction.' },
)
export type Dispute = Static<typeof Dispute>
