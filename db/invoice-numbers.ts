import type { EntityManager } from '@mikro-orm/postgresql'
import type { Contact } from '../billing/contacts.ts'
import { ownValue } from '../billing/own-value.ts'
import type { Invoice } from './entities/index.ts'
import type { Issuer, TaxIdNumber } from './entities/invoice.ts'
import { statement } from './statement.ts'

interface Recipient {
  readonly contact: Contact | null
  readonly taxIdNumber: TaxIdNumber | null
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
    tax_id_number: TaxIdNumber | null
    recipients: Readonly<Record<string, Recipient>> | null
  }>(
    em,
    'number-invoices',
    `with counter as (
       insert into invoice_counters (organization_id, last_number) values (?, ?::int)
       on conflict (organization_id) do update set last_number = invoice_counters.last_number + excluded.last_number
       returning organization_id, last_number
     )
     select counter.last_number, ${ISSUER} as issuer, ${defaultTaxNumber('organization')} as tax_id_number,
            (select jsonb_object_agg(customer.id, jsonb_build_object(
                      'contact', ${CONTACT}, 'taxIdNumber', ${defaultTaxNumber('customer')}))
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
    invoice.organizationTaxIdNumber = given.tax_id_number
    invoice.customerTaxIdNumber = recipient?.taxIdNumber ?? null
    invoice.billingAddress ??= recipient?.contact ?? null
  }
}

/** The preferred tax number of a row, else its first. SQL. */
export const defaultTaxNumber = (row: string) =>
  `(select jsonb_build_object('type', number ->> 'type', 'value', number ->> 'value')
      from jsonb_array_elements(${row}.tax_numbers) with ordinality given (number, place)
     order by (number ->> 'isDefault')::boolean desc, place limit 1)`

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
