import { Migration } from '@mikro-orm/migrations'

/** Invoices without an order, what is due on them, and sales whose rest stays the merchant's. */
export class Migration20261122200000_own_invoices extends Migration {
  override up(): void {
    this.addSql(`
      alter table invoices alter column subscription_id drop not null;
      alter table invoices
        add column last_event_time timestamptz(3) null,
        add column next_deadline timestamptz(3) null,
        add column quarantine_count int not null default 0,
        add column quarantine_reason varchar(500) null,
        add column quarantined_until timestamptz(3) null;
      create index invoices_deadline_index on invoices (next_deadline) where next_deadline is not null;
      create index invoices_quarantined_index on invoices (quarantined_until) where quarantined_until is not null;
      alter table transactions add column keeps_rest boolean not null default false;
    `)
  }

  override down(): void {
    this.addSql(`
      delete from invoices where subscription_id is null;
      alter table invoices alter column subscription_id set not null;
      alter table invoices
        drop column last_event_time, drop column next_deadline, drop column quarantine_count, drop column quarantine_reason,
        drop column quarantined_until;
      alter table transactions drop column keeps_rest;
    `)
  }
}
