import { nextGatewayCall } from '../../billing/charging.ts'
import { type DeclineClass, instrumentFor } from '../../billing/dunning.ts'
import { parseDuration } from '../../billing/durations.ts'
import { ConflictError, InvalidFieldsError } from '../../billing/errors.ts'
import { CHARGE_TIMEOUT, nextInquiry } from '../../billing/inquiry-schedule.ts'
import { Money } from '../../billing/money.ts'
import { type Order, placeOrder, type Transition } from '../../billing/order.ts'
import { advanceBefore, advanceThrough } from '../../billing/order-lifecycle.ts'
import {
  beginCharge,
  cancelCharge,
  declineCharge,
  leaveChargeUnknown,
  receivePayment,
  timeOutCharge,
} from '../../billing/order-payments.ts'
import type { OrderTerms } from '../../billing/order-terms.ts'
import type { Command } from './orders.ts'

export const RETRIES = ['P1D', 'P3D', 'P5D'].flatMap((text) => parseDuration(text) ?? [])
export const AUTOPAY = { canCharge: true, instrumentId: 'card', autopayRetries: RETRIES }

/**
 * The gateway's result, or a decline class; `lost`: the service died before it could record the result, `not-sent`:
 * the gateway never received the charge.
 */
export type Answer = 'approved' | 'declined' | DeclineClass | 'unknown' | 'lost' | 'not-sent'

interface Asked {
  readonly invoice: number
  readonly attempt: number
  /** When the charge was begun, and how much later than it was due. */
  readonly now: number
  readonly late: number
  readonly instrumentId: string | null
  answer?: Answer
}

/** The gateway gives the results in their order, and then approves. */
export class ChargedOrder {
  order: Order
  readonly transitions: Transition[]
  readonly charges: Asked[] = []
  readonly moved = new Map<string, string>()
  /** Exact; what no invoice could use, and is refunded. */
  unusedAmount = '0'
  readonly #answers: Answer[]

  constructor(agreed: OrderTerms, responses: readonly Answer[] = []) {
    const placed = placeOrder({ ...agreed, ...AUTOPAY })
    this.order = placed.order
    this.transitions = [placed]
    this.#answers = [...responses]
  }

  /** Advances the order as the timer does, and makes every gateway call that is due. */
  advanceTo(now: number): this {
    for (;;) {
      const { transitions, order } = advanceThrough(this.order, now)
      this.transitions.push(...transitions)
      this.order = order
      if (!this.#ask(now)) return this
    }
  }

  /** Advances at each deadline through the instant, late by `lateness`. */
  live(through: number, lateness: () => number = () => 0): this {
    for (;;) {
      const next = this.nextDeadline()
      if (next === null || next > through) return this.advanceTo(through)
      this.advanceTo(Math.min(through, next + lateness()))
    }
  }

  command({ at: now, act }: Command): this {
    const { transitions, order } = advanceBefore(this.order, now)
    this.transitions.push(...transitions)
    this.order = order
    try {
      this.#take(act(this.order, now))
    } catch (error) {
      if (!(error instanceof ConflictError || error instanceof InvalidFieldsError)) throw error
    }
    return this
  }

  nextDeadline(): number | null {
    const { next, gatewayCall: call } = advanceThrough(this.order, Number.NEGATIVE_INFINITY)
    const first = Math.min(next?.at ?? Number.POSITIVE_INFINITY, call?.at ?? Number.POSITIVE_INFINITY)
    return Number.isFinite(first) ? first : null
  }

  invoice(sequence: number) {
    const found = this.order.invoices.find((one) => one.sequence === sequence)
    if (found === undefined) throw new Error('there is no such invoice')
    return found
  }

  #ask(now: number): boolean {
    const call = nextGatewayCall(this.order)
    if (call === null || call.at > now) return false
    const sequence = call.invoice
    const { chargeTime, charge } = this.invoice(sequence)
    if (charge === null && instrumentFor(this.order, this.invoice(sequence)) === null) {
      this.#take(declineCharge(this.order, call.at, sequence))
      return true
    }
    if (charge === null) {
      this.#take(beginCharge(this.order, now, sequence))
      if (this.invoice(sequence).charge === null) return true
      const { attempts } = this.invoice(sequence)
      const instrumentId = instrumentFor(this.order, this.invoice(sequence))
      const late = now - (chargeTime ?? now)
      this.charges.push({ invoice: sequence, attempt: attempts, now, late, instrumentId })
    }
    const open = this.invoice(sequence).charge
    if (open === null) throw new Error('no charge was begun')
    const request = `${sequence}.${this.invoice(sequence).attempts}`
    const made = this.charges.findLast(({ invoice }) => invoice === sequence)
    const instrumentId = made?.instrumentId ?? null
    const amount = this.invoice(sequence).amount
    const isFirst = open.answer === 'none'
    const instant = isFirst ? open.at : now
    const response = this.moved.has(request) ? 'approved' : (this.#answers.shift() ?? 'approved')
    if (made !== undefined) made.answer = response
    switch (response) {
      case 'lost':
        // The money has moved, and nobody here knows yet.
        this.moved.set(request, amount)
        return false
      case 'declined':
      case 'hard':
      case 'soft':
      case 'lost-or-stolen':
      case 'insufficient-funds':
      case 'needs-action':
      case 'amount': {
        const reason = response === 'declined' ? null : response
        this.#take(declineCharge(this.order, instant, sequence, { class: reason, instrumentId }))
        return true
      }
      case 'not-sent':
        this.#take(cancelCharge(this.order, instant, sequence))
        return true
      case 'unknown': {
        const askTime = nextInquiry(open.at, now)
        const timesOut = open.answer !== 'timed-out' && now >= open.at + CHARGE_TIMEOUT
        this.#take(
          timesOut
            ? timeOutCharge(this.order, instant, sequence, askTime, instrumentId)
            : leaveChargeUnknown(this.order, instant, sequence, askTime),
        )
        return true
      }
      case 'approved': {
        this.moved.set(request, amount)
        const { transition: step, used } = receivePayment(this.order, instant, sequence, amount)
        this.#take(step)
        this.unusedAmount = new Money(this.unusedAmount).plus(amount).minus(used).toFixed()
        return true
      }
    }
  }

  #take(step: Transition): void {
    this.transitions.push(step)
    this.order = step.order
  }
}
