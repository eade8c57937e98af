import Type from 'typebox'

/** The body is the provider's: only its signature is checked before it is read. */
export const GatewayNotificationEvent = Type.Object(
  {},
  {
    $id: 'GatewayNotificationEvent',
    description:
      'An event, as the payment provider sends it, with its signature in the `Stripe-Signature` header. The signature takes the place of a credential, and is at most five minutes old.',
    additionalProperties: true,
  },
)

export const GatewayNotification = Type.Object(
  {
    id: Type.String({ description: "The provider's id of the event." }),
    type: Type.String({ description: "The provider's name of what happened." }),
    isRepeated: Type.Boolean({
      description: 'True if the event was received before. It is not processed again.',
    }),
  },
  {
    $id: 'GatewayNotification',
    additionalProperties: false,
    description: 'An event of a payment provider that was received.',
  },
)
