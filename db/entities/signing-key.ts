import { defineEntity, p } from '@mikro-orm/core'
import { instant, json } from './columns.ts'

export interface PublicJwk {
  kty: string
  n: string
  e: string
}

const SigningKeySchema = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_keys',
  properties: {
    kid: p.string().length(50).primary(),
    publicJwk: json<PublicJwk>(),
    /** A JWK. */
    privateCipher: p.text(),
    /** It is published from then on. */
    createdTime: instant(),
    /** It signs from then on, until a later key does. */
    signsFrom: instant(),
  },
})

export class SigningKey extends SigningKeySchema.class {}
SigningKeySchema.setClass(SigningKey)
