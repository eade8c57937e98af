import Type, { type Static } from 'typebox'
import { ReadOnly, Text } from './conventions.ts'

export const DigitalWalletValidation = Type.Object(
  {
    type: Type.Enum(['Apple Pay'], { description: 'Digital wallet that validates the merchant.' }),
    validationRequest: Type.Object(
      {
        validationUrl: Type.String({
          format: 'uri',
          maxLength: 2048,
          description:
            "Validation URL from the wallet's SDK. The session is requested from its host, which must be one that the wallet publishes for merchant sessions.",
        }),
        domainName: Text('Domain name of the store, registered with the wallet.', { format: 'hostname' }),
        displayName: Type.String({
          minLength: 1,
          maxLength: 64,
          description: 'Name of the store that the wallet shows to the customer.',
        }),
      },
      { additionalProperties: false, writeOnly: true, description: 'What the wallet validates.' },
    ),
    validationResponse: ReadOnly(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "Merchant session of the wallet, for a single payment. Pass it unchanged to the wallet's SDK. In the sandbox it has `sandbox: true`, and no device accepts it.",
      }),
    ),
  },
  {
    $id: 'DigitalWalletValidation',
    additionalProperties: false,
    description: 'The validation of a merchant by a digital wallet, for a single payment.',
  },
)
export type DigitalWalletValidation = Static<typeof DigitalWalletValidation>
