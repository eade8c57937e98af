import Type, { type Static } from 'typebox'
import {
  ANSWERED_DISPUTE_TYPES,
  DISPUTE_CATEGORIES,
  DISPUTE_STATUSES,
  DISPUTE_TYPES,
  type DisputeType,
} from '../../billing/disputes.ts'
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

export const Dispute = Type.Object(
  {
    ...resourceMembers,
    customerId: ReadOnly(OrNull(Id('Customer of the transaction.'))),
    transactionId: Id('The transaction it is about.'),
    currency: Type.String({ format: 'currency', description: 'ISO 4217 code.' }),
    amount: Amount('What is disputed.'),
    acquirerReferenceNumber: Nullable(Text('Reference of the acquirer.')),
    caseId: Nullable(Text('Case number.')),
    reasonCode: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Code of the card network or bank.',
    }),
    reasonDescription: ReadOnly(OrNull(Type.String({ maxLength: 512, description: 'What the code means.' }))),
    category: ReadOnly(Type.Enum([...DISPUTE_CATEGORIES])),
    type: EnumWithReadOnlyValues<DisputeType>(DISPUTE_TYPES, ANSWERED_DISPUTE_TYPES, {
      description: 'What kind of dispute it is.',
    }),
    status: Type.Enum([...DISPUTE_STATUSES]),
    postedTime: Instant('When it was posted.'),
    deadlineTime: Nullable(Instant('Latest time for a representment; missed, the dispute is lost.')),
    rawResponse: ReadOnly(OrNull(Type.String({ description: 'What the gateway said.' }))),
    resolvedTime: ReadOnly(OrNull(Instant('When it was won, lost or forfeited.'))),
    source: ReadOnly(OrNull(Type.Enum(['api', 'manual', 'sftp', 'webhook']))),
  },
  { $id: 'Dispute', additionalProperties: false, description: 'A payment that is contested.' },
)
export type Dispute = Static<typeof Dispute>
