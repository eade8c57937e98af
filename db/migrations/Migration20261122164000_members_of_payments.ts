import { Migration } from '@mikro-orm/migrations'

/** Columns of payment instruments and transactions, filled in for existing rows from what these refer to. */
export class Migration20261122164000_members_of_payments extends Migration {
  override up(): void {
    this.addSql(`
      alter table payment_instruments
        add column fingerprint varchar(64) null,
        add column use_as_backup boolean not null default false,
        add column custom_fields jsonb null;
      update payment_instruments
         set fingerprint = encode(sha256(convert_to(organization_id || ':' || card_fingerprint, 'UTF8')), 'hex');
      alter table payment_instruments alter column fingerprint set not null;
      comment on column payment_instruments.fingerprint is 'What the merchant sees in its place; differs between organizations.';
    `)
    this.addSql(`
      alter table transactions
        add column child_transactions jsonb not null default '[]',
        add column website_id varchar(50) null,
        add column subscription_ids jsonb not null default '[]',
        add column plan_ids jsonb not null default '[]',
        add column is_rebill boolean not null default false,
        add column rebill_number int null,
        add column retry_number int not null default 0,
        add column billing_address jsonb null,
        add column bin varchar(6) null,
        add column risk_metadata jsonb null,
        add column description text null,
        add column custom_fields jsonb null,
        add column processed_time timestamptz(3) null;
      update transactions sale set
        website_id = coalesce(
          (select website_id from invoices where organization_id = sale.organization_id and id = sale.invoice_ids ->> 0),
          (select website_id from customers where organization_id = sale.organization_id and id = sale.customer_id)),
        -- The offset has each invoice looked up by its key, and not joined with all those of the organization.
        subscription_ids = coalesce(
          (select jsonb_agg(distinct paid.subscription_id) from jsonb_array_elements_text(sale.invoice_ids) invoice_id,
            lateral (select subscription_id from invoices
                      where organization_id = sale.organization_id and id = invoice_id offset 0) paid), '[]'),
        plan_ids = coalesce(
          (select jsonb_agg(distinct line ->> 'planId') from jsonb_array_elements_text(sale.invoice_ids) invoice_id,
            lateral (select lines from invoices
                      where organization_id = sale.organization_id and id = invoice_id offset 0) paid,
            jsonb_array_elements(paid.lines) line where line ->> 'planId' is not null), '[]'),
        is_rebill = coalesce(
          (select type = 'renewal' from invoices where organization_id = sale.organization_id and id = sale.invoice_ids ->> 0), false),
        rebill_number =
          (select period_number from invoices where organization_id = sale.organization_id and id = sale.invoice_ids ->> 0),
        bin = (select bin from payment_instruments where organization_id = sale.organization_id
                  and id = sale.payment_instruction ->> 'paymentInstrumentId'),
        billing_address = (select billing_address from payment_instruments where organization_id = sale.organization_id
                  and id = sale.payment_instruction ->> 'paymentInstrumentId'),
        retry_number = case when sale.subscription_id is null then 0
          else greatest(coalesce(substring(sale.request_id from '[.]([0-9]+)$')::int, 1) - 1, 0) end,
        child_transactions = coalesce(
          (select jsonb_agg(id order by created_time, id) from transactions refund
            where refund.organization_id = sale.organization_id and refund.parent_transaction_id = sale.id), '[]'),
        processed_time = case when sale.status = 'completed' then sale.updated_time end;
      update transactions refund
         set website_id = sale.website_id, subscription_ids = sale.subscription_ids, plan_ids = sale.plan_ids,
             is_rebill = sale.is_rebill, rebill_number = sale.rebill_number
        from transactions sale
       where sale.organization_id = refund.organization_id and sale.id = refund.parent_transaction_id;
      -- Earlier releases stored the default as a JSON string.
      update transactions set undelivered = '[]' where jsonb_typeof(undelivered) = 'string';
      update transactions set status = 'never-sent' where result = 'canceled';
      update transactions sale
         set status = case when refunded.amount >= sale.amount then 'refunded' else 'partially-refunded' end
        from (select organization_id, parent_transaction_id as id, sum(amount) as amount from transactions
               where parent_transaction_id is not null and result = 'approved' group by 1, 2) refunded
       where refunded.organization_id = sale.organization_id and refunded.id = sale.id and sale.result = 'approved';
      comment on column transactions.child_transactions is 'Refunds of a sale, oldest first.';
      comment on column transactions.subscription_ids is 'The orders and plans of its invoices, as they were when it began.';
      comment on column transactions.is_rebill is 'True if its first invoice renews an order.';
      comment on column transactions.rebill_number is 'The period of that invoice; 0 is the trial.';
      comment on column transactions.retry_number is 'Automatic charges of that invoice before this one.';
      comment on column transactions.bin is 'First six digits of the card.';
      comment on column transactions.processed_time is 'When its outcome became known; real time.';
      comment on column transactions.status is 'As stored; a sale with an open dispute is shown as disputed.';
    `)
  }
}
