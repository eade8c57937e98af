import { canonicalJson } from '../../billing/canonical-json.ts'
import { raiseRevision } from '../../db/change-row.ts'
import type { Customer } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { customerEvent } from '../../events/customer-events.ts'
import { customerEntry } from '../../events/timeline.ts'
import { chargeOpenInvoices } from '../orders/charge-open-invoices.ts'
import { checkedCustomer, type NewCustomer, type TokenPayment } from './create-customer.ts'

type Members = Omit<NewCustomer, 'leadSource'>

/** Members whose change has an entry of its own in the timeline, and what it says. */
const ENTRIES: readonly (readonly [keyof NewCustomer, string, string])[] = [
  ['primaryAddress', 'primary-address-changed', 'primary address changed'],
  ['customFields', 'custom-fields-changed', 'custom fields changed'],
  ['defaultPaymentInstrumentId', 'default-payment-instrument-changed', 'default payment instrument changed'],
]

/** Replaces the values of a locked customer; the caller emits `customer-updated`. Throws InvalidFieldsError. */
export async function updateCustomer(
  unit: UnitOfWork,
  customer: Customer,
  values: NewCustomer,
  payment: TokenPayment | null,
  instrumentField?: string,
): Promise<void> {
  const { leadSource, ...given } = await checkedCustomer(unit, customer.id, values, payment, instrumentField)
  await changeMembers(unit, customer, given)
  setLeadSource(unit, customer, leadSource)
}

/** Sets checked values of a locked customer, with the entries of its timeline, and charges a new default instrument. */
export async function changeMembers(
  unit: UnitOfWork,
  customer: Customer,
  given: Partial<Members>,
): Promise<void> {
  const { id } = customer
  const isSame = (member: keyof Members) =>
    canonicalJson(customer[member] ?? null) === canonicalJson(given[member])
  const changed = (Object.keys(given) as (keyof Members)[]).filter((member) => !isSame(member))
  Object.assign(customer, given)
  await chargeByDefault(unit, customer, changed)
  const add = (type: string, text: string) =>
    unit.addTimelineEntry(customerEntry(id, type, `Customer ${id}: ${text}.`, unit.now))
  for (const [member, type, text] of ENTRIES) {
    if (changed.some((one) => one === member)) add(type, text)
  }
  const others = changed.filter((member) => !ENTRIES.some(([known]) => known === member))
  if (others.length > 0) add('customer-updated', `changed ${others.join(', ')}`)
}

/** A new default instrument is charged for what the customer's orders, already locked, owe. */
async function chargeByDefault(
  unit: UnitOfWork,
  customer: Customer,
  changed: readonly string[],
): Promise<void> {
  const { id, defaultPaymentInstrumentId } = customer
  if (!changed.includes('defaultPaymentInstrumentId')) return
  customer.isDefaultDeactivated = false
  if (defaultPaymentInstrumentId == null) return
  await unit.em.flush()
  await chargeOpenInvoices(unit, id, { id: defaultPaymentInstrumentId, change: 'chosen' })
}

/** Emits `lead-source-changed` if it differs. The first lead source ever stays the original. */
export function setLeadSource(
  unit: UnitOfWork,
  customer: Customer,
  leadSource: Record<string, string | null> | null,
): void {
  if (canonicalJson(customer.leadSource ?? null) === canonicalJson(leadSource)) return
  customer.leadSource = leadSource
  customer.originalLeadSource ??= leadSource
  customer.leadSourceCreatedTime ??= unit.now
  customer.leadSourceUpdatedTime = unit.now
  raiseRevision(customer, unit)
  unit.emit(customerEvent(customer, 'lead-source-changed', unit))
  const said = leadSource === null ? 'removed' : 'changed'
  const message = `Customer ${customer.id}: lead source ${said}.`
  unit.addTimelineEntry(customerEntry(customer.id, 'lead-source-changed', message, unit.now))
}
