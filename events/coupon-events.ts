import type { EventType } from '../billing/event-types.ts'
import { changeTime } from '../db/change-row.ts'
import type { Coupon } from '../db/entities/index.ts'
import type { NewEvent } from '../db/outbox.ts'
import type { UnitOfWork } from '../db/unit-of-work.ts'
import { presentCoupon } from '../representations/coupon.ts'

export interface AboutRedemption {
  readonly redemptionId: string
  readonly customerId: string
  /** Of the order; null: the redemption is for all orders. */
  readonly websiteId: string | null
}

/** The time is real time: a coupon belongs to no order, and follows no order's clock. */
export function couponEvent(
  coupon: Coupon,
  type: EventType,
  { now, baseUrl }: Pick<UnitOfWork, 'now' | 'baseUrl'>,
  redemption: AboutRedemption | null = null,
): NewEvent {
  const representation = presentCoupon(coupon, baseUrl)
  return {
    type,
    time: changeTime(coupon, { now }),
    websiteId: redemption?.websiteId ?? null,
    ids: {
      couponId: coupon.id,
      ...(redemption === null
        ? {}
        : { redemptionId: redemption.redemptionId, customerId: redemption.customerId }),
    },
    embedded: { coupon: representation },
    links: representation._links.map((link) => ({ ...link, rel: 'coupon' })),
  }
}
