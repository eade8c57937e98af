import Type, { type Static } from 'typebox'
import { DEFAULT_BILLING_SETTINGS } from '../../billing/billing-settings.ts'
import { Nullable, resourceMembers, Text } from './conventions.ts'

const Duration = (description: string) => Type.String({ format: 'duration', maxLength: 50, description })

const durations = (defaults: readonly string[], description: string) =>
  Type.Optional(Type.Array(Duration('A duration.'), { maxItems: 20, default: [...defaults], description }))

const { autopayRetries } = DEFAULT_BILLING_SETTINGS

const Reminders = Type.Object(
  {
    renewal: durations([], 'Before a renewal.'),
    trialEnd: durations([], 'Before the end of a trial.'),
    abandon: durations([], 'Before a pending order is abandoned.'),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'How long before each event its reminders are due.',
  },
)

const Billing = Type.Object(
  {
    pendingOrderTtl: Nullable(
      Duration(
        'How long after the later of creation and start a pending order is abandoned where it names no abandonTime; null: never.',
      ),
    ),
    reminders: Type.Optional(Reminders),
    autopayRetries: durations(
      autopayRetries,
      'When an invoice whose charge was declined is charged again, counted from the first decline.',
    ),
  },
  { additionalProperties: false, default: {}, description: 'What holds for all of its orders.' },
)

const Settings = Type.Object(
  { billing: Type.Optional(Billing) },
  { additionalProperties: false, default: {}, description: 'What the organization decides for itself.' },
)

export const Organization = Type.Object(
  {
    ...resourceMembers,
    name: Text('What people call it.', { minLength: 1 }),
    settings: Type.Optional(Settings),
  },
  { $id: 'Organization', additionalProperties: false, description: 'A merchant.' },
)
export type Organization = Static<typeof Organization>
