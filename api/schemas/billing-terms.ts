import Type from 'typebox'
import { SHIFT_UNITS } from '../../billing/order-terms.ts'
import { WEEKDAYS } from '../../billing/periods.ts'
import { Nullable, OmittedWhenUnknown, OrNull } from './conventions.ts'
import { notSupportedYet } from './not-supported.ts'
import { variantsBy } from './variants.ts'

const UNIT = ['day', 'week', 'month', 'year']

export const PeriodSchema = Type.Object(
  {
    unit: Type.Enum(UNIT),
    length: Type.Integer({ minimum: 1, maximum: 1000, description: 'Number of units in a period.' }),
  },
  { title: 'Period', additionalProperties: false, description: 'Length of a period.' },
)

const DayOfMonth = Type.Integer({
  minimum: 1,
  maximum: 31,
  description: 'Day of the month; the last one of shorter months.',
})
const DayOfWeek = Type.Enum([...WEEKDAYS], { description: 'Day of the week.' })

const schedule = {
  limit: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description: 'Number of periods. If null, the order renews until it is canceled.',
    }),
  ),
  periodAnchorInstruction: Type.Optional(
    OrNull(
      Type.Object(
        {
          method: Type.Enum(['immediately', 'day-of-month', 'day-of-week']),
          day: Type.Optional(
            Type.Unsafe<number | string>({
              type: ['integer', 'string'],
              minimum: 1,
              maximum: 31,
              description:
                'Day of the month, the last one of shorter months, or English name of a day of the week.',
            }),
          ),
          week: OmittedWhenUnknown(
            Type.Optional(Type.Enum(['next'], { description: 'For a day of the week.' })),
          ),
          ...notSupportedYet({ time: null }),
        },
        {
          ...variantsBy('method', {
            'day-of-month': { has: ['day'], narrowed: { day: DayOfMonth } },
            'day-of-week': { has: ['day'], may: ['week'], narrowed: { day: DayOfWeek } },
            immediately: {},
          }),
          title: 'PeriodAnchorInstruction',
          additionalProperties: false,
        },
      ),
      {
        description:
          'Day on which periods begin from the second one on: the first period ends at the first such day. Later periods count from it. If null, periods count from the beginning of the service.',
      },
    ),
  ),
  billingTiming: Type.Optional(
    Type.Enum(['prepaid', 'postpaid'], {
      default: 'prepaid',
      description:
        'Whether a period is billed when it begins or when it ends. The initial invoice of a postpaid order has no period.',
    }),
  ),
}

export const RecurringIntervalSchema = Type.Object(
  { ...PeriodSchema.properties, ...schedule },
  {
    title: 'RecurringInterval',
    additionalProperties: false,
    description: 'Length and number of the service periods.',
  },
)

/** Without a period, the interval of the plans holds. */
const OrderIntervalSchema = Type.Object(
  {
    ...schedule,
    unit: OmittedWhenUnknown(PeriodSchema.properties.unit),
    length: OmittedWhenUnknown(PeriodSchema.properties.length),
    limit: OmittedWhenUnknown(schedule.limit),
    periodAnchorInstruction: OmittedWhenUnknown(schedule.periodAnchorInstruction),
    billingTiming: OmittedWhenUnknown(schedule.billingTiming),
  },
  {
    additionalProperties: false,
    dependentRequired: { unit: ['length'], length: ['unit'] },
    description:
      'Length and number of the service periods, and the day on which they begin, which override those of the plans. Without unit and length, only the limit and the day do, where they are given. If null, those of the plans apply.',
  },
)

const shift = (chronology: 'before' | 'after', description: string) =>
  Type.Object(
    {
      chronology: Type.Optional(Type.Literal(chronology, { default: chronology })),
      duration: Type.Integer({ minimum: 0, maximum: 100_000 }),
      unit: Type.Enum(SHIFT_UNITS.flatMap((unit) => [unit, `${unit}s`])),
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
  {
    title: 'InvoiceTimeShift',
    additionalProperties: false,
    description: 'When invoices are issued and due.',
  },
)

export const NullableInterval = Type.Optional(OrNull(RecurringIntervalSchema))
export const NullableOrderInterval = Type.Optional(OrNull(OrderIntervalSchema))
export const NullableTimeShift = Type.Optional(OrNull(InvoiceTimeShiftSchema))
