import type { RedeemedCoupon } from '../../billing/coupons.ts'
import type { Credit } from '../../billing/credit-memos.ts'
import { parseDuration } from '../../billing/durations.ts'
import { milliseconds } from '../../billing/instants.ts'
import type { Invoice as InvoiceState } from '../../billing/invoices.ts'
import { plainAmount } from '../../billing/money.ts'
import type { Order } from '../../billing/order.ts'
import { agreedTerms, type OrderTerms, type PricedItem } from '../../billing/order-terms.ts'
import type { CreditMemo, Invoice, Subscription, SubscriptionPause } from '../../db/entities/index.ts'
import type { OrderItem } from '../../db/entities/subscription.ts'
import { storedInstant } from '../../db/stored-instant.ts'
import { type ChargeTerms, UNCHARGED } from './choose-instrument.ts'

export function orderOf(
  row: Subscription,
  {
    invoices = [],
    pauses = [],
    charging = UNCHARGED,
    creditMemos = [],
    redeemed,
    instant = Number.NEGATIVE_INFINITY,
  }: {
    readonly invoices?: readonly Invoice[]
    readonly pauses?: readonly SubscriptionPause[]
    readonly charging?: ChargeTerms
    readonly creditMemos?: readonly CreditMemo[]
    readonly redeemed: readonly RedeemedCoupon[]
    /** Milliseconds, on the order's clock. Only its reminders ask for it. */
    readonly instant?: number
  },
): Order {
  return {
    terms: orderTerms(row, charging, redeemed),
    status: row.status,
    activationTime: milliseconds(row.activationTime),
    notBefore: (row.notBefore ?? row.createdTime).getTime(),
    voidTime: milliseconds(row.voidTime),
    canceledTime: milliseconds(row.canceledTime),
    churnTime: milliseconds(row.churnTime),
    canceledBy: row.canceledBy ?? null,
    cancelCategory: row.cancelCategory ?? null,
    cancelDescription: row.cancelDescription ?? null,
    inTrial: row.inTrial,
    isTrialConverted: row.isTrialConverted,
    trialConversionTime: milliseconds(row.trialConversionTime),
    rebillNumber: row.rebillNumber ?? null,
    invoicedThrough: row.invoicedThrough,
    anchor: milliseconds(row.anchorTime),
    anchorNumber: row.anchorNumber,
    periodStart: milliseconds(row.periodStart),
    periodEnd: milliseconds(row.periodEnd),
    pauses: pauses.map(({ id, status, effectiveTime, endTime, timeRemaining }) => ({
      id,
      status,
      effectiveTime: effectiveTime.getTime(),
      endTime: milliseconds(endTime),
      timeRemaining: timeRemaining ?? null,
    })),
    invoices: invoices.map(invoiceOf),
    lateChargeTime: milliseconds(row.lateChargeTime),
    credit: creditMemos.map((memo) => creditOfMemo(memo, row.id)),
    declinedRenewals: row.declinedRenewals ?? null,
    queue: row.queuedLines,
    paused: row.pausedPeriod ?? null,
    proratesChurn: row.proratesChurn,
    changedPeriod: row.changedPeriod ?? null,
    nextInvoice: row.nextInvoice,
    remindersFrom: remindersFrom(row, instant),
    remindersSent: {
      renewal: row.renewalReminderNumber ?? 0,
      trialEnd: row.trialReminderNumber ?? 0,
      abandon: row.abandonReminderNumber ?? 0,
    },
  }
}

/**
 * Without those that passed unknown: settings that came after the order was last scheduled have them earlier than its next
 * deadline. While it waits for a charge that says nothing, since what it has to remind of waits too.
 */
function remindersFrom(row: Subscription, instant: number): number {
  const from = (row.remindersFrom ?? row.advancedTo ?? row.createdTime).getTime()
  const { nextDeadline, nextDueKind } = row
  if (nextDeadline == null || nextDueKind === 'charge') return from
  return Math.max(from, Math.min(nextDeadline.getTime(), instant))
}

export function invoiceOf(invoice: Invoice): InvoiceState {
  return {
    sequence: invoice.sequence,
    type: invoice.type,
    status: invoice.status,
    lines: invoice.lines.map(({ id: _, ...line }) => line),
    discounts: invoice.discounts,
    amount: invoice.amount,
    periodNumber: invoice.periodNumber ?? null,
    periodStart: milliseconds(invoice.periodStart),
    periodEnd: milliseconds(invoice.periodEnd),
    issuedTime: milliseconds(invoice.issuedTime),
    dueTime: milliseconds(invoice.dueTime),
    delinquencyTime: milliseconds(invoice.delinquencyTime),
    paidTime: milliseconds(invoice.paidTime),
    voidedTime: milliseconds(invoice.voidedTime),
    abandonedTime: milliseconds(invoice.abandonedTime),
    chargeTime: milliseconds(invoice.chargeTime),
    attempts: invoice.attempts,
    declinedTime: milliseconds(invoice.declinedTime),
    declines: invoice.declines ?? [],
    charge: invoice.charge ?? null,
    amountPaid: invoice.amountPaid,
    amountRefunded: invoice.amountRefunded,
    refundedWhileOpen: invoice.refundedWhileOpen,
    amountCredited: invoice.amountCredited,
    creditTakenBack: invoice.creditTakenBack,
    creditWithdrawals: invoice.creditWithdrawals,
    credits: invoice.credits,
    isDisputed: invoice.isDisputed,
  }
}

/** As the rules read it for an order, or with null for an own invoice. */
export function creditOfMemo(
  { id, currency, unusedAmount, subscriptionId }: CreditMemo,
  orderId: string | null,
): Credit {
  const isOfOrder = subscriptionId != null && subscriptionId === orderId
  return {
    creditMemoId: id,
    currency,
    left: plainAmount(unusedAmount),
    ...(isOfOrder ? { isOfOrder: true } : {}),
  }
}

export function orderTerms(
  row: Subscription,
  charging: Omit<ChargeTerms, 'route' | 'backups'>,
  redeemed: readonly RedeemedCoupon[],
): OrderTerms {
  const agreed = agreedTerms(
    row.items.map(({ priced }) => priced),
    orderChoices(row),
  )
  return {
    currency: row.currency,
    createdTime: row.createdTime.getTime(),
    startTime: row.startTime.getTime(),
    abandonTime: milliseconds(row.abandonTime),
    items: row.items.map(termsItem),
    ...agreed,
    trialGivenTime: milliseconds(row.trialGivenTime),
    delinquencyPeriod: parseDuration(row.delinquencyPeriod ?? ''),
    shipping: row.shipping?.amount ?? null,
    coupons: redeemed,
    taxes: charging.taxes,
    canCharge: charging.canCharge,
    instrumentId: charging.instrumentId,
    backupIds: charging.backupIds ?? [],
    autopayRetries: charging.autopayRetries,
    paydays: charging.paydays,
    declinedRenewalsLimit: charging.declinedRenewalsLimit,
    reminders: charging.reminders,
  }
}

export function termsItem({ id, quantity, priced, excludeFromMrr }: OrderItem): PricedItem {
  return { id, quantity, plan: priced, excludeFromMrr: excludeFromMrr ?? false }
}

export function orderChoices(
  row: Pick<Subscription, 'trial' | 'isTrialOnly' | 'recurringInterval' | 'invoiceTimeShift'>,
) {
  const { trial } = row
  return {
    trial: trial == null ? null : { enabled: trial.enabled, endTime: parsed(trial.endTime) },
    isTrialOnly: row.isTrialOnly,
    recurringInterval: row.recurringInterval ?? null,
    invoiceTimeShift: row.invoiceTimeShift ?? null,
  }
}

function parsed(text: string | null): number | null {
  return text === null ? null : storedInstant(text)
}
