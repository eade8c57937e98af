/** Members that plans and orders share: how often, how long, when invoices are issued and due. */
import Type from 'typebox'
import { Nullable, OrNull } from './conventions.ts'

const UNIT = ['day', 'week', 'month', 'year']

export const PeriodSchema = Type.Object(
  {
    unit: Type.Enum(UNIT),
    length: Type.Integer({ minimum: 1, maximum: 1000, description: 'Number of units in a period.' }),
  },
  { additionalProperties: false, description: 'Length of a period.' },
)

export const RecurringIntervalSchema = Type.Object(
  {
    ...PeriodSchema.properties,
    limit: Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: 'Number of periods. If null, the order renews until it is canceled.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Length and number of the service periods.' },
)

const shift = (chronology: 'before' | 'after', description: string) =>
  Type.Object(
    {
      chronology: Type.Literal(chronology),
      duration: Type.Integer({ minimum: 0, maximum: 100_000 }),
      unit: Type.Enum(['minute', 'hour', ...UNIT]),
    },
    { additionalProperties: false, description },
  )

export const InvoiceTimeShiftSchema = Type.Object(
  {
    issueTimeShift: Nullable(
      shift('before', 'How long before the period begins its renewal invoice is issued.'),
    ),
    dueTimeShift: Nullable(shift('after', 'How long after its issue an invoice is due. If null, one hour.')),
  },
  { additionalProperties: false, description: 'When invoices are issued and due.' },
)

export const NullableInterval = Type.Optional(OrNull(RecurringIntervalSchema))
export const NullableTimeShift = Type.Optional(OrNull(InvoiceTimeShiftSchema))
