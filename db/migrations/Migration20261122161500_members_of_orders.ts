import { Migration } from '@mikro-orm/migrations'

export class Migration20261122161500_members_of_orders extends Migration {
  override name = 'Migration20261122161500_members_of_orders'

  override up(): void {
    this.addSql(`
      alter table plans
        add column description text null,
        add column rich_description text null,
        add column custom_fields jsonb null;
      drop index plans_search_index;
      create index plans_search_index on plans using gin (organization_id, (lower(id || E'\\n' || coalesce("name", '') || E'\\n' || coalesce(currency, '') || E'\\n' || coalesce(product_id, '') || E'\\n' || coalesce(description, '') || E'\\n' || coalesce(rich_description, ''))) gin_trgm_ops);
    `)
    this.addSql(`
      alter table subscriptions
        add column order_type varchar(20) not null default 'subscription-order',
        add column trial_conversion_time timestamptz(3) null,
        add column mrr numeric(18, 6) not null default '0',
        add column canceled_time timestamptz(3) null,
        add column cancellation_id varchar(50) null;
      comment on column subscriptions.mrr is 'Monthly recurring revenue: a decimal string. Written with each transition.';
      comment on column subscriptions.cancellation_id is 'The cancellation in force; null: none, or for delinquency.';
      update subscriptions set trial_conversion_time = (
        select max(occurred_time) from timeline_entries entry
         where entry.organization_id = subscriptions.organization_id and entry.subscription_id = subscriptions.id
           and entry.type = 'subscription-trial-converted'
      ) where is_trial_converted;
      update subscriptions set canceled_time = (
        select max(occurred_time) from timeline_entries entry
         where entry.organization_id = subscriptions.organization_id and entry.subscription_id = subscriptions.id
           and entry.type in ('order-canceled', 'subscription-canceled')
      ) where canceled_by is not null;
      update subscriptions set cancellation_id = newest.id
        from (select distinct on (organization_id, subscription_id) organization_id, subscription_id, id
                from subscription_cancellations
               order by organization_id, subscription_id, created_time desc) newest
       where newest.organization_id = subscriptions.organization_id and newest.subscription_id = subscriptions.id
         and canceled_by in ('merchant', 'customer');
    `)
    this.addSql(`
      alter table subscription_cancellations
        add column status varchar(20) not null default 'confirmed',
        add column canceled_time timestamptz(3) null,
        add column churn_time_policy varchar(20) null,
        alter column churn_time drop not null;
      comment on column subscription_cancellations.status is 'A draft changes nothing; a confirmed one ends service at its churn time, which completes it.';
      comment on column subscription_cancellations.churn_time is 'null: a draft that ends service at once.';
      update subscription_cancellations set canceled_time = created_time, status = case
        when exists (select from subscriptions where subscriptions.organization_id = subscription_cancellations.organization_id
               and subscriptions.id = subscription_cancellations.subscription_id
               and subscriptions.cancellation_id = subscription_cancellations.id and subscriptions.status = 'canceled') then 'confirmed'
        when churn_time <= created_time or exists (select from timeline_entries entry
               where entry.organization_id = subscription_cancellations.organization_id
                 and entry.subscription_id = subscription_cancellations.subscription_id
                 and entry.type in ('order-churned', 'subscription-churned') and entry.occurred_time = churn_time) then 'completed'
        else 'revoked' end;
      -- Of several for the same churn time, only the last was not undone.
      update subscription_cancellations undone set status = 'revoked'
        from (select organization_id, id, row_number() over (
                       partition by organization_id, subscription_id, churn_time order by created_time desc) as place
                from subscription_cancellations where status = 'completed') ended
       where ended.organization_id = undone.organization_id and ended.id = undone.id and ended.place > 1;
    `)
    this.addSql(`
      alter table subscription_pauses
        add column time_remaining bigint null,
        add column paused_by varchar(20) not null default 'merchant';
      comment on column subscription_pauses.time_remaining is 'Milliseconds from its end to the next boundary.';
      update subscription_pauses pause set status = 'ongoing', time_remaining = (
        select extract(epoch from period_end - pause.effective_time) * 1000 from subscriptions
         where subscriptions.organization_id = pause.organization_id and subscriptions.id = pause.subscription_id
      ) where status = 'active';
      update subscription_pauses set status = 'finished' where status = 'ended';
    `)
    this.addSql(`
      alter table subscription_reactivations
        add column cancellation_id varchar(50) null,
        add column renewal_time timestamptz(3) null,
        add column payment_instrument_id varchar(50) null,
        add column description varchar(255) null;
      comment on column subscription_reactivations.cancellation_id is 'The cancellation that it reverses; null: one for delinquency.';
      comment on column subscription_reactivations.payment_instrument_id is 'The instrument that it gave the order; null: none.';
      drop index subscription_reactivations_search_index;
      create index subscription_reactivations_search_index on subscription_reactivations using gin (organization_id, (lower(id || E'\\n' || coalesce(subscription_id, '') || E'\\n' || coalesce(description, ''))) gin_trgm_ops);
    `)
    this.addSql(`
      alter table invoices add column abandoned_time timestamptz(3) null;
      comment on column invoices.lines is 'Their amounts are decimal strings. Those of earlier releases have no id.';
      update invoices set abandoned_time = updated_time where status = 'abandoned';
      create index transactions_invoice_index on transactions using gin (organization_id, invoice_ids jsonb_path_ops);
    `)
  }

  override down(): void {
    this.addSql(`
      drop index transactions_invoice_index;
      alter table invoices drop column abandoned_time;
      drop index subscription_reactivations_search_index;
      alter table subscription_reactivations
        drop column cancellation_id, drop column renewal_time, drop column payment_instrument_id, drop column description;
      create index subscription_reactivations_search_index on subscription_reactivations using gin (organization_id, (lower(id || E'\\n' || coalesce(subscription_id, ''))) gin_trgm_ops);
      update subscription_pauses set status = 'active' where status = 'ongoing';
      update subscription_pauses set status = 'ended' where status = 'finished';
      alter table subscription_pauses drop column time_remaining, drop column paused_by;
      delete from subscription_cancellations where status = 'draft';
      alter table subscription_cancellations
        drop column status, drop column canceled_time, drop column churn_time_policy, alter column churn_time set not null;
      alter table subscriptions
        drop column order_type, drop column trial_conversion_time, drop column mrr, drop column canceled_time,
        drop column cancellation_id;
      drop index plans_search_index;
      alter table plans drop column description, drop column rich_description, drop column custom_fields;
      create index plans_search_index on plans using gin (organization_id, (lower(id || E'\\n' || coalesce("name", '') || E'\\n' || coalesce(currency, '') || E'\\n' || coalesce(product_id, ''))) gin_trgm_ops);
    `)
  }
}
