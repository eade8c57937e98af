import type { CouponDiscount, CouponRestriction } from '../../billing/coupons.ts'
import { type FieldCode, type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { amountOf, amountProblem, Money } from '../../billing/money.ts'
import {
  advanceCoupon,
  createCoupon,
  emitCouponChange,
  expireCoupon,
  updateCoupon,
} from '../../commands/coupons/save-coupon.ts'
import { cancelRedemption, createRedemption } from '../../commands/orders/order-redemptions.ts'
import { requireUnreferenced } from '../../commands/references.ts'
import { changeRow } from '../../db/change-row.ts'
import { couponRedemptionSearch, couponSearch } from '../../db/entities/coupon.ts'
import { Coupon as CouponRow, Customer, CouponRedemption as RedemptionRow } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { presentCoupon, presentCouponRedemption } from '../../representations/coupon.ts'
import { presentCustomer } from '../../representations/customer.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf, reference } from '../query/fields.ts'
import { remove } from '../resources/delete.ts'
import { embedding } from '../resources/embedding.ts'
import { notFound, type Resource, type Writer } from '../resources/resource.ts'
import { respondIn } from '../resources/respond.ts'
import { Coupon, type CouponExpiration, CouponRedemption } from '../schemas/coupon.ts'
import { instantOf, instantTextOf } from './instants.ts'

export const coupons: Resource<CouponRow> = {
  name: 'Coupon',
  label: 'coupon',
  path: 'coupons',
  schema: Coupon,
  entity: CouponRow,
  table: 'coupons',
  search: couponSearch,
  fields: fieldsOf(Coupon, { 'discount.context': { sql: `'items'::text`, type: 'text' } }),
  present: (row, { baseUrl }) => presentCoupon(row, baseUrl),
}

export const couponWriter: Writer<CouponRow, Coupon> = {
  advance: (unit, row) => void advanceCoupon(unit, row, unit.now.getTime()),
  create: (unit, id, body) => createCoupon(unit, id, valuesOf(body, null)),
  update: (unit, row, body) => updateCoupon(unit, row, valuesOf(body, row)),
  changed: emitCouponChange,
}

export const couponRedemptions: Resource<RedemptionRow> = {
  name: 'CouponRedemption',
  label: 'coupon redemption',
  path: 'coupons-redemptions',
  schema: CouponRedemption,
  entity: RedemptionRow,
  table: 'coupon_redemptions',
  search: couponRedemptionSearch,
  fields: fieldsOf(CouponRedemption, {
    couponId: reference('coupon_id', 'coupons'),
    customerId: reference('customer_id', 'customers'),
  }),
  present: (row, { baseUrl }) => presentCouponRedemption(row, baseUrl),
  expanders: {
    coupon: embedding(CouponRow, (row) => row.couponId, presentCoupon),
    customer: embedding(Customer, (row) => row.customerId, presentCustomer),
  },
}

export const couponRedemptionWriter: Pick<Writer<RedemptionRow, CouponRedemption>, 'create'> = {
  create(unit, id, { couponId, customerId, additionalRestrictions = [] }) {
    const problems: InvalidField[] = []
    const restrictions = restrictionsOf(
      additionalRestrictions,
      'additionalRestrictions',
      ADDITIONAL_RESTRICTIONS,
      problems,
    )
    if (problems.length > 0) throw new InvalidFieldsError(problems)
    return createRedemption(unit, id, { couponId, customerId, additionalRestrictions: restrictions })
  },
}

/** Responds with 409 while a redemption, even a canceled one, refers to it. */
export async function deleteCoupon(context: OperationContext): Promise<OperationResponse> {
  return await remove(context, coupons, (unit, row) => requireUnreferenced(unit, 'coupons', row.id))
}

export async function postCouponExpiration(context: OperationContext): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  return await context.commit(async (unit) => {
    const row = await lockRow(unit, CouponRow, id)
    if (row === null) throw notFound(coupons, id)
    advanceCoupon(unit, row, unit.now.getTime())
    const { expiredTime } = context.body<CouponExpiration>()
    const time = instantOf(expiredTime, row.expiredTime)
    const isChanged = await changeRow(unit, row, () => expireCoupon(unit, row, time))
    if (isChanged) emitCouponChange(unit, row)
    return await respondIn(unit, context, coupons, row)
  })
}

/** Responds with 409 if it is canceled already. */
export async function postRedemptionCancellation(context: OperationContext): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  return await context.commit(async (unit) => {
    const row = await cancelRedemption(unit, id)
    if (row === null) throw notFound(couponRedemptions, id)
    return await respondIn(unit, context, couponRedemptions, row)
  })
}

function valuesOf(body: Coupon, row: CouponRow | null) {
  const problems: InvalidField[] = []
  const discount = discountOf(body.discount, problems)
  const restrictions = restrictionsOf(body.restrictions ?? [], 'restrictions', RESTRICTIONS, problems).map(
    (one) => withStoredTime(one, row?.restrictions ?? []),
  )
  if (problems.length > 0) throw new InvalidFieldsError(problems)
  return {
    discount,
    restrictions,
    description: body.description ?? '',
    issuedTime: instantOf(body.issuedTime, row?.issuedTime),
    expiredTime: instantOf(body.expiredTime, row?.expiredTime),
  }
}

type Problems = InvalidField[]

function discountOf(
  { type, value, amount, currency }: Coupon['discount'],
  problems: Problems,
): CouponDiscount {
  const given = { value, amount, currency }
  checkMembers('discount', type, given, type === 'percent' ? ['value'] : ['amount', 'currency'], [], problems)
  if (type === 'percent') {
    const percent = amountOf(value ?? 0)
    if (new Money(percent).decimalPlaces() > 4) {
      problems.push({
        field: 'discount.value',
        code: 'too-precise',
        message: 'must not have more than 4 decimals',
      })
    }
    return { type, value: percent }
  }
  checkAmount('discount', amount, currency, problems)
  return { type: 'fixed', amount: amountOf(amount ?? 0), currency: currency ?? '' }
}

type Restriction = NonNullable<Coupon['restrictions']>[number]
type RestrictionMember = Exclude<keyof Restriction, 'type'>

/** The members that each restriction needs, and those that it may have. */
const RESTRICTIONS: Readonly<
  Record<
    string,
    { readonly required: readonly RestrictionMember[]; readonly optional?: readonly RestrictionMember[] }
  >
> = {
  'total-redemptions': { required: ['quantity'] },
  'redemptions-per-customer': { required: ['quantity'] },
  'discounts-per-redemption': { required: ['quantity'] },
  'minimum-order-amount': { required: ['amount', 'currency'] },
  'maximum-order-amount': { required: ['amount', 'currency'] },
  'restrict-to-plans': { required: ['planIds'], optional: ['minimumQuantity'] },
  'restrict-to-products': { required: ['productIds'], optional: ['minimumQuantity'] },
  'restrict-to-subscriptions': { required: ['subscriptionIds'] },
  'restrict-to-customers': { required: ['customerIds'] },
  'restrict-to-customer-tags': { required: ['tags'], optional: ['requireAllTags'] },
  'restrict-to-countries': { required: ['countries'] },
  'restrict-to-exclusive-application': { required: [] },
  'restrict-to-invoices': { required: ['invoiceIds'] },
  'restrict-to-bxgy': { required: ['buy', 'get'] },
  'paid-by-time': { required: ['time'] },
}

/** The other restrictions say who can redeem the coupon. */
const ADDITIONAL_RESTRICTIONS = Object.fromEntries(
  Object.entries(RESTRICTIONS).filter(([type]) =>
    [
      'discounts-per-redemption',
      'minimum-order-amount',
      'maximum-order-amount',
      'restrict-to-plans',
      'restrict-to-products',
      'restrict-to-subscriptions',
      'restrict-to-invoices',
      'paid-by-time',
    ].includes(type),
  ),
)

function restrictionsOf(
  given: readonly Restriction[],
  field: string,
  known: typeof RESTRICTIONS,
  problems: Problems,
): CouponRestriction[] {
  return given.flatMap((one, index) => {
    const at = `${field}.${index}`
    const { type, ...members } = one
    const fail = (code: FieldCode, message: string) =>
      void problems.push({ field: `${at}.type`, code, message })
    const rule = known[type]
    if (rule === undefined) fail('not-allowed', 'must be a restriction of redemptions')
    else if (given.findIndex((other) => other.type === type) < index) {
      fail('not-unique', 'must occur only once')
    } else {
      checkMembers(at, type, members, rule.required, rule.optional ?? [], problems)
      if (rule.required.includes('amount')) checkAmount(at, members.amount, members.currency, problems)
      return [restrictionOf(one)]
    }
    return []
  })
}

function withStoredTime(given: CouponRestriction, stored: readonly CouponRestriction[]): CouponRestriction {
  if (given.type !== 'paid-by-time') return given
  const before = stored.find((one) => one.type === 'paid-by-time')
  return { ...given, time: instantTextOf(given.time, before?.time) }
}

function restrictionOf({ type, ...members }: Restriction): CouponRestriction {
  const { quantity = 1, amount = 0, currency = '', minimumQuantity } = members
  const minimum = minimumQuantity === undefined ? {} : { minimumQuantity }
  switch (type) {
    case 'minimum-order-amount':
    case 'maximum-order-amount':
      return { type, amount: amountOf(amount), currency }
    case 'restrict-to-plans':
      return { type, planIds: members.planIds ?? [], ...minimum }
    case 'restrict-to-products':
      return { type, productIds: members.productIds ?? [], ...minimum }
    case 'restrict-to-subscriptions':
      return { type, subscriptionIds: members.subscriptionIds ?? [] }
    case 'restrict-to-customers':
      return { type, customerIds: members.customerIds ?? [] }
    case 'restrict-to-customer-tags':
      return { type, tags: members.tags ?? [], requireAllTags: members.requireAllTags ?? false }
    case 'restrict-to-countries':
      return { type, countries: members.countries ?? [] }
    case 'restrict-to-exclusive-application':
      return { type }
    case 'restrict-to-invoices':
      return { type, invoiceIds: members.invoiceIds ?? [] }
    case 'restrict-to-bxgy':
      return { type, buy: members.buy ?? [], get: members.get ?? [] }
    case 'paid-by-time':
      return { type, time: new Date(members.time ?? 0).toISOString() }
    default:
      return { type: type as 'total-redemptions', quantity }
  }
}

function checkMembers(
  field: string,
  type: string,
  given: Readonly<Record<string, unknown>>,
  required: readonly string[],
  optional: readonly string[],
  problems: Problems,
): void {
  for (const name of required) {
    if (given[name] === undefined)
      problems.push({ field: `${field}.${name}`, code: 'required', message: 'is required' })
  }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || required.includes(name) || optional.includes(name)) continue
    problems.push({
      field: `${field}.${name}`,
      code: 'not-supported',
      message: `is not supported for ${type}`,
    })
  }
}

function checkAmount(
  field: string,
  amount: number | undefined,
  currency: string | undefined,
  problems: Problems,
): void {
  if (amount === undefined || currency === undefined) return
  const problem = amountProblem(amountOf(amount), currency)
  if (problem !== null) problems.push({ field: `${field}.amount`, ...problem })
}
