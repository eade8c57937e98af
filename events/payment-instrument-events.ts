import type { PaymentInstrument } from '../db/entities/index.ts'
import type { NewEvent } from '../db/outbox.ts'
import type { UnitOfWork } from '../db/unit-of-work.ts'
import { presentPaymentInstrument } from '../representations/payment-instrument.ts'

export function paymentInstrumentEvent(
  instrument: PaymentInstrument,
  type:
    | 'payment-card-created'
    | 'payment-card-expired'
    | 'payment-card-expiration-reminder'
    | 'payment-instrument-modified',
  { baseUrl }: UnitOfWork,
  websiteId: string | null,
): NewEvent {
  const representation = presentPaymentInstrument(instrument, baseUrl)
  return {
    type,
    time: instrument.updatedTime,
    websiteId,
    ids: { paymentInstrumentId: instrument.id, paymentCardId: instrument.id },
    embedded: { paymentInstrument: representation },
    links: representation._links.map((link) =>
      link.rel === 'self' ? { ...link, rel: 'paymentInstrument' } : link,
    ),
  }
}
