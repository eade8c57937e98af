import type { PaymentToken } from '../db/entities/index.ts'
import { presentContact } from './contact.ts'
import { type Link, resourceUrl } from './links.ts'

/** Shows at most the first six and last four digits of the card number. */
export function presentPaymentToken(token: PaymentToken, baseUrl: string) {
  const self: Link = { rel: 'self', href: resourceUrl(baseUrl, token.organizationId, 'tokens', token.id) }
  return {
    id: token.id,
    method: token.method,
    paymentInstrument: {
      bin: token.bin ?? null,
      last4: token.last4 ?? null,
      ...(token.brand == null ? {} : { brand: token.brand }),
      expMonth: token.expMonth,
      expYear: token.expYear,
    },
    billingAddress: presentContact(token.billingAddress),
    riskMetadata: token.riskMetadata ?? null,
    isUsed: token.isUsed,
    usageTime: token.usageTime?.toISOString() ?? null,
    expirationTime: token.expirationTime.toISOString(),
    revision: token.revision,
    createdTime: token.createdTime.toISOString(),
    updatedTime: token.updatedTime.toISOString(),
    _links: [self],
  }
}
