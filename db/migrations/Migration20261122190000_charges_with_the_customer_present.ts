import { Migration } from '@mikro-orm/migrations'

export class Migration20261122190000_charges_with_the_customer_present extends Migration {
  override up(): void {
    this.addSql(`
      alter table transactions
        add column is_merchant_initiated boolean not null default false,
        add column redirect_url text null,
        add column approval_url text null;
      comment on column transactions.is_merchant_initiated is 'True if a caller charged without the customer being present.';
      comment on column transactions.redirect_url
        is 'Where the customer comes back to after approving it; null: to a page of this service.';
      comment on column transactions.approval_url is 'Where the customer approves it; null: its bank has not asked for that.';
      comment on column transactions.status
        is 'As stored; shown as waiting-approval while the customer is asked, and as disputed with an open dispute.';
    `)
    this.addSql(`
      alter table test_gateway.ledger add column approval_id varchar(50) null, add column return_url text null;
      create unique index ledger_approval_index on test_gateway.ledger (approval_id) where approval_id is not null;
    `)
  }
}
