import { Migration } from '@mikro-orm/migrations'

/** Gives issued invoices their numbers, in the order of their issue, and what their documents show of both parties. */
export class Migration20261122183000_invoices_have_numbers extends Migration {
  override up(): void {
    this.addSql(`
      create table invoice_counters (organization_id varchar(50) not null, last_number int not null, primary key (organization_id));
      comment on table invoice_counters is 'The last invoice number of an organization; its row is locked while numbers are given.';
      alter table invoices
        add column billing_address jsonb null,
        add column delivery_address jsonb null,
        add column invoice_number int null,
        add column issuer jsonb null,
        add column organization_tax_id_number jsonb null,
        add column customer_tax_id_number jsonb null;
    `)
    // Parties as they are now: what they were at the issue was not kept.
    this.addSql(`
      update invoices set
        invoice_number = counted.number,
        billing_address = coalesce(nullif(ordered.billing_address, 'null'), nullif(customer.primary_address, 'null')),
        delivery_address = nullif(ordered.delivery_address, 'null'),
        issuer = case when counted.number is not null then jsonb_build_object(
          'name', organization.name, 'website', organization.website, 'address', organization.address,
          'address2', organization.address2, 'city', organization.city, 'region', organization.region,
          'country', organization.country, 'postalCode', organization.postal_code,
          'phoneNumbers', organization.phone_numbers, 'emails', organization.emails,
          'taxDescriptor', organization.tax_descriptor, 'timeZone', organization.invoice_time_zone) end
        from (select organization_id, id, subscription_id, customer_id,
                     case when issued_time is not null
                          then row_number() over (partition by organization_id, issued_time is null order by issued_time, id) end as number
                from invoices) counted
        join organizations organization on organization.id = counted.organization_id
        left join subscriptions ordered on ordered.organization_id = counted.organization_id and ordered.id = counted.subscription_id
        left join customers customer on customer.organization_id = counted.organization_id and customer.id = counted.customer_id
       where invoices.organization_id = counted.organization_id and invoices.id = counted.id;
      insert into invoice_counters
        select organization_id, max(invoice_number) from invoices where invoice_number is not null group by organization_id;
    `)
  }

  override down(): void {
    this.addSql(`
      drop table invoice_counters;
      alter table invoices
        drop column billing_address, drop column delivery_address, drop column invoice_number, drop column issuer,
        drop column organization_tax_id_number, drop column customer_tax_id_number;
    `)
  }
}
