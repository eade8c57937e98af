import Type, { type Static } from 'typebox'
import { DEFAULT_BILLING_SETTINGS } from '../../billing/billing-settings.ts'
import { Nullable, resourceMembers, Text } from './conventions.ts'

const Duration = (description: string) => Type.String({ format: 'duration', maxLength: 50, description })

const durations = (defaults: readonly string[], description: string) =>
  Type.Optional(
    Type.Array(Duration('ISO 8601 duration.'), { maxItems: 20, default: [...defaults], description }),
  )

const { autopayRetries } = DEFAULT_BILLING_SETTINGS

const Reminders = Type.Object(
  {
    renewal: durations([], 'Offsets before a renewal.'),
    trialEnd: durations([], 'Offsets before the end of a trial.'),
    abandon: durations([], 'Offsets before a pending order is abandoned.'),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'How long before each event reminders are sent.',
  },
)

const Billing = Type.Object(
  {
    pendingOrderTtl: Nullable(
      Duration(
        'How long a pending order without abandonTime is kept, counted from the later of its creation and its start time. If null, such orders are never abandoned.',
      ),
    ),
    reminders: Type.Optional(Reminders),
    autopayRetries: durations(
      autopayRetries,
      'When a declined charge of an invoice is retried, counted from the first decline.',
    ),
  },
  { additionalProperties: false, default: {}, description: 'Billing settings of all orders.' },
)

const Settings = Type.Object(
  { billing: Type.Optional(Billing) },
  { additionalProperties: false, default: {}, description: 'Settings of the organization.' },
)

export const Organization = Type.Object(
  {
    ...resourceMembers,
    name: Text('Display name.', { minLength: 1 }),
    settings: Type.Optional(Settings),
  },
  {
    $id: 'Organization',
    additionalProperties: false,
    description: 'A merchant, which owns all other resources.',
  },
)
export type Organization = Static<typeof Organization>
