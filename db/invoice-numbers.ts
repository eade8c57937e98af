import type { EntityManager } from '@mikro-orm/postgresql'
import type { Contact } from '../billing/contacts.ts'
import { ownValue } from '../billing/own-value.ts'
import { decisiveTaxId } from '../billing/tax-ids.ts'
import type { Invoice } from './entities/index.ts'
import type { Issuer, TaxIdNumber } from './entities/invoice.ts'
import { statement } from './statement.ts'

interface Recipient {
  readonly contact: Contact | null
  readonly taxNumbers: readonly TaxIdNumber[] | null
}

/**
 * Numbers issued invoices by issue time, without gaps, and adds what their documents say of both parties
 * (decisions 6.3). The counter stays locked until the transaction ends: a rollback returns its numbers, and
 * the next transaction that issues invoices waits for the commit.
 */
export async function numberInvoices(
  em: EntityManager,
  organizationId: string,
  invoices: readonly Invoice[],
): Promise<void> {
  if (invoices.length === 0) return
  const customerIds = [...new Set(invoices.map(({ customerId }) => customerId))]
  const [given] = await statement<{
    last_number: number
    issuer: Issuer
    tax_numbers: readonly TaxIdNumber[] | null
    recipients: Readonly<Record<string, Recipient>> | null
  }>(
    em,
    'number-invoices',
    `with counter as (
       insert into invoice_counters (organization_id, last_number) values (?, ?::int)
       on conflict (organization_id) do update set last_number = invoice_counters.last_number + excluded.last_number
       returning organization_id, last_number
     )
     select counter.last_number, ${ISSUER} as issuer, ${taxNumbers('organization')} as tax_numbers,
            (select jsonb_object_agg(customer.id, jsonb_build_object(
                      'contact', ${CONTACT}, 'taxNumbers', ${taxNumbers('customer')}))
               from customers customer
              where customer.organization_id = counter.organization_id
                and customer.id in (select jsonb_array_elements_text(?::jsonb))) as recipients
       from counter join organizations organization on organization.id = counter.organization_id`,
    [organizationId, invoices.length, JSON.stringify(customerIds)],
  )
  if (given === undefined) throw new Error(`invoices of an unknown organization: ${organizationId}`)
  let number = given.last_number - invoices.length
  for (const invoice of invoices.toSorted((one, other) => issueTime(one) - issueTime(other))) {
    const recipient = ownValue(given.recipients, invoice.customerId)
    number += 1
    invoice.invoiceNumber = number
    invoice.issuer = given.issuer
    invoice.organizationTaxIdNumber = shownTaxNumber(invoice, given.tax_numbers)
    invoice.customerTaxIdNumber = shownTaxNumber(invoice, recipient?.taxNumbers ?? null)
    invoice.billingAddress ??= recipient?.contact ?? null
  }
}

/** The tax numbers of a row, the preferred one first. SQL. */
export const taxNumbers = (row: string) =>
  `(select jsonb_agg(jsonb_build_object('type', number ->> 'type', 'value', number ->> 'value')
                     order by (number ->> 'isDefault')::boolean desc, place)
      from jsonb_array_elements(${row}.tax_numbers) with ordinality given (number, place))`

/** An invoice whose tax the customer owes states the VAT numbers of both, others the preferred ones. */
function shownTaxNumber({ lines }: Invoice, numbers: readonly TaxIdNumber[] | null): TaxIdNumber | null {
  const isReverse = lines.some(({ taxes }) => taxes?.some((tax) => tax.isReverseCharge === true))
  return isReverse ? decisiveTaxId(numbers) : (numbers?.[0] ?? null)
}

const ISSUER = `jsonb_build_object(
    'name', organization.name, 'website', organization.website, 'address', organization.address,
    'address2', organization.address2, 'city', organization.city, 'region', organization.region,
    'country', organization.country, 'postalCode', organization.postal_code,
    'phoneNumbers', organization.phone_numbers, 'emails', organization.emails,
    'taxDescriptor', organization.tax_descriptor, 'timeZone', organization.invoice_time_zone)`

/** The customer's address, else a contact with the customer's name and e-mail address, if any. */
const CONTACT = `coalesce(nullif(customer.primary_address, 'null'),
    case when customer.first_name is not null or customer.last_name is not null or customer.email is not null then
      jsonb_build_object(
        'firstName', customer.first_name, 'lastName', customer.last_name, 'organization', null, 'address', null,
        'address2', null, 'city', null, 'region', null, 'country', null, 'postalCode', null, 'dob', null,
        'jobTitle', null, 'phoneNumbers', jsonb_build_array(),
        'emails', case when customer.email is null then jsonb_build_array() else jsonb_build_array(
          jsonb_build_object('label', null, 'value', customer.email, 'primary', true)) end) end)`

function issueTime({ issuedTime }: Invoice): number {
  return issuedTime?.getTime() ?? 0
}
