import { Migration } from '@mikro-orm/migrations'

export class Migration20261122164300_members_of_access extends Migration {
  override up(): void {
    this.addSql(`
      alter table webhooks add column header_values_cipher text null;
      comment on column webhooks.header_values_cipher is 'The values of the headers, a JSON array encrypted by the vault; null: there are none.';
    `)
    this.addSql(`
      alter table service_credentials
        alter column status type varchar(20),
        add column deactivation_time timestamptz(3) null;
      comment on column service_credentials.deactivation_time is 'When it became deactivated; null in any other status.';
    `)
    this.addSql(`
      alter table organizations
        add column website text null,
        add column address varchar(255) null,
        add column address2 varchar(255) null,
        add column city varchar(255) null,
        add column region varchar(255) null,
        add column country varchar(2) null,
        add column postal_code varchar(255) null,
        add column phone_numbers jsonb not null default '[]',
        add column emails jsonb not null default '[]',
        add column tax_descriptor varchar(255) null,
        add column tax_numbers jsonb null,
        add column invoice_time_zone varchar(255) not null default 'UTC',
        add column report_currency varchar(3) null,
        add column questionnaire jsonb null;
    `)
  }
}
