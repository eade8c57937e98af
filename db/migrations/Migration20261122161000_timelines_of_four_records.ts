import { Migration } from '@mikro-orm/migrations'

export class Migration20261122161000_timelines_of_four_records extends Migration {
  override name = 'Migration20261122161000_timelines_of_four_records'

  override up(): void {
    this.addSql(`
      alter table timeline_entries
        add column customer_id varchar(50) null,
        add column invoice_id varchar(50) null,
        add column transaction_id varchar(50) null,
        alter column subscription_id drop not null;
      update timeline_entries entry
         set customer_id = subscription.customer_id,
             invoice_id = case when entry."type" like '%invoice%' then substring(entry.message from 'in_[0-9A-Z]{26}') end,
             "type" = case entry."type"
               when 'subscription-created' then 'order-created'
               when 'subscription-activated' then 'order-activated'
               when 'subscription-canceled' then 'order-canceled'
               when 'subscription-churned' then 'order-churned'
               when 'subscription-renewed' then 'order-renewed'
               when 'subscription-reactivated' then 'order-reactivated'
               when 'subscription-items-changed' then 'order-items-changed'
               when 'renewal-invoice-issued' then 'invoice-issued'
               when 'renewal-invoice-payment-declined' then 'invoice-renewal-payment-declined'
               else entry."type" end
        from subscriptions subscription
       where subscription.organization_id = entry.organization_id and subscription.id = entry.subscription_id;
      drop index timeline_entries_order_index;
      create index timeline_entries_customer_index on timeline_entries (organization_id, customer_id, occurred_time) where customer_id is not null;
      create index timeline_entries_subscription_index on timeline_entries (organization_id, subscription_id, occurred_time) where subscription_id is not null;
      create index timeline_entries_invoice_index on timeline_entries (organization_id, invoice_id, occurred_time) where invoice_id is not null;
      create index timeline_entries_transaction_index on timeline_entries (organization_id, transaction_id, occurred_time) where transaction_id is not null;
      comment on table timeline_entries is 'Something that happened to a record, or a comment about it.';
      comment on column timeline_entries.customer_id is 'The records in whose timelines the entry is: one row for all of them.';
      comment on column timeline_entries.occurred_time is 'On the record''s own clock.';
    `)
  }

  override down(): void {
    this.addSql(`
      delete from timeline_entries where subscription_id is null;
      alter table timeline_entries drop column customer_id, drop column invoice_id, drop column transaction_id,
        alter column subscription_id set not null;
      drop index timeline_entries_subscription_index;
      create index timeline_entries_order_index on timeline_entries (organization_id, subscription_id, occurred_time);
    `)
  }
}
