import { Migration } from '@mikro-orm/migrations'

export class Migration20261122191000_credit_memos extends Migration {
  override up(): void {
    this.addSql(`
      create table credit_memos (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        "number" int not null,
        customer_id varchar(50) not null,
        invoice_id varchar(50) null,
        currency varchar(3) not null,
        status varchar(20) not null,
        reason varchar(30) not null,
        description text not null,
        items jsonb not null,
        shipping_amount numeric(18, 6) not null,
        total_amount numeric(18, 6) not null,
        unused_amount numeric(18, 6) not null,
        invoice_allocations jsonb not null default '[]',
        voided_time timestamptz(3) null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      comment on table credit_memos is 'What a customer is owed: it covers invoices, or waits for the next one.';
      comment on column credit_memos."number" is 'Counts the memos of an organization from 1.';
      comment on column credit_memos.invoice_id is 'The invoice that it was made for; null: none.';
      comment on column credit_memos.items is 'Their unit prices are decimal strings.';
      comment on column credit_memos.shipping_amount is 'Decimal strings.';
      comment on column credit_memos.invoice_allocations is 'What invoices use of it; their amounts are decimal strings.';
      alter table credit_memos add constraint credit_memos_number_unique unique (organization_id, "number");
      create index credit_memos_newest_index on credit_memos (organization_id, created_time desc, id);
      create index credit_memos_by_id_index on credit_memos (organization_id, lower(id));
      create index credit_memos_search_index on credit_memos using gin (organization_id, (lower(id || E'\\n' || coalesce(customer_id, '') || E'\\n' || coalesce(invoice_id, '') || E'\\n' || coalesce(currency, '') || E'\\n' || coalesce(status, '') || E'\\n' || coalesce(reason, '') || E'\\n' || coalesce(description, ''))) gin_trgm_ops);
      create index credit_memos_customer_index on credit_memos (organization_id, customer_id);
      create index credit_memos_unused_index on credit_memos (organization_id, customer_id) where unused_amount > 0;
      create table credit_memo_counters (organization_id varchar(50) not null, last_number int not null, primary key (organization_id));
      comment on table credit_memo_counters is 'The last number of a credit memo of an organization.';
      alter table invoices add column credits jsonb not null default '[]';
      comment on column invoices.credits is 'What credit memos cover of it; their amounts are decimal strings.';
      alter table timeline_entries add column credit_memo_id varchar(50) null;
      create index timeline_entries_credit_memo_index on timeline_entries (organization_id, credit_memo_id, occurred_time) where credit_memo_id is not null;
    `)
  }

  override down(): void {
    this.addSql(`
      drop table credit_memos;
      drop table credit_memo_counters;
      alter table invoices drop column credits;
      alter table timeline_entries drop column credit_memo_id;
    `)
  }
}
