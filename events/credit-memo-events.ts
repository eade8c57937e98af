import type { EventType } from '../billing/event-types.ts'
import type { CreditMemo } from '../db/entities/index.ts'
import type { NewEvent } from '../db/outbox.ts'
import { presentCreditMemo } from '../representations/credit-memo.ts'

/** The website is that of the invoice, if any. */
export function creditMemoEvent(
  memo: CreditMemo,
  type: EventType,
  {
    time,
    baseUrl,
    websiteId = null,
  }: { readonly time: Date; readonly baseUrl: string; readonly websiteId?: string | null },
): NewEvent {
  const creditMemo = presentCreditMemo(memo, baseUrl)
  return {
    type,
    time,
    websiteId,
    ids: { creditMemoId: memo.id },
    // Its number is given at the end of the transaction.
    embedded: { creditMemo: () => ({ ...creditMemo, number: memo.number }) },
    links: creditMemo._links.map((link) => (link.rel === 'self' ? { ...link, rel: 'creditMemo' } : link)),
  }
}
