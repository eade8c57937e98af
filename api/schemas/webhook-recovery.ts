import Type, { type Static } from 'typebox'
import { Instant, ReadOnly } from './conventions.ts'

export const WebhookRecovery = Type.Object(
  {
    since: Instant(
      'Deliveries are resent that were created, or of which an attempt failed, at this time or later.',
    ),
    deliveries: ReadOnly(
      Type.Integer({
        minimum: 0,
        description:
          'Number of deliveries that this request resends. If it ends with an error, such as a 503, repeat it: it goes on, and does not count those that still wait to be resent.',
      }),
    ),
  },
  {
    $id: 'WebhookRecovery',
    additionalProperties: false,
    description: 'A request to resend the failed deliveries of a webhook.',
  },
)
export type WebhookRecovery = Static<typeof WebhookRecovery>
