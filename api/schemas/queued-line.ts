import Type from 'typebox'
import { Amount, Instant, OrNull } from './conventions.ts'

/** A line that waits for the next invoice of an order. Responses have every member. */
export const QueuedLine = Type.Object(
  {
    type: Type.Optional(
      Type.Enum(['debit', 'credit'], { description: 'Whether it raises or reduces the amount.' }),
    ),
    description: Type.Optional(Type.String({ description: 'What it is for.' })),
    unitPriceAmount: Type.Optional(Amount('Price of a unit, never negative.', { minimum: 0 })),
    unitPriceCurrency: Type.Optional(Type.String({ description: 'ISO 4217 code.' })),
    quantity: Type.Optional(Type.Integer({ description: 'Number of units.' })),
    periodStartTime: Type.Optional(OrNull(Instant('Beginning of the time that it is for.'))),
    periodEndTime: Type.Optional(OrNull(Instant('End of that time, exclusive.'))),
  },
  { description: 'A line that waits for the next invoice.' },
)
