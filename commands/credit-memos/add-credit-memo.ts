import type { CreditMemoItem } from '../../billing/credit-memos.ts'
import type { Cause } from '../../billing/order.ts'
import type { CreditMemo } from '../../db/entities/index.ts'
import { newId } from '../../db/ids.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { creditMemoEvent } from '../../events/credit-memo-events.ts'
import { creditEntry } from '../../events/timeline.ts'

export interface NewCreditMemo
  extends Pick<CreditMemo, 'id' | 'customerId' | 'currency' | 'reason' | 'description' | 'totalAmount'> {
  readonly invoiceId: string | null
  readonly items: readonly CreditMemoItem[]
  readonly shippingAmount: string
}

/** Adds a checked memo, which gets its number when the transaction ends. Emits `credit-memo-created`. */
export function addCreditMemo(
  unit: UnitOfWork,
  given: NewCreditMemo,
  {
    time,
    cause,
    websiteId,
    subscriptionId = null,
  }: {
    readonly time: Date
    readonly cause: Cause
    readonly websiteId: string | null
    readonly subscriptionId?: string | null
  },
): CreditMemo {
  const memo = unit.createMemo({
    ...given,
    subscriptionId,
    items: given.items.map((item) => ({ id: newId('item'), ...item })),
    status: 'issued',
    unusedAmount: given.totalAmount,
    invoiceAllocations: [],
    transactionAllocations: [],
    voidedTime: null,
  })
  unit.emit(creditMemoEvent(memo, 'credit-memo-created', { time, baseUrl: unit.baseUrl, websiteId }))
  unit.addTimelineEntry(creditEntry('credit-memo-created', memo, { time, cause, subscriptionId }))
  return memo
}
