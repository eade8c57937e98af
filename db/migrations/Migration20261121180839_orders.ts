import { Migration } from '@mikro-orm/migrations'

export class Migration20261121180839_orders extends Migration {
  override name = 'Migration20261121180839_orders'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "invoices" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "subscription_id" varchar(50) not null, "customer_id" varchar(50) not null, "website_id" varchar(50) not null, "sequence" int not null, "type" varchar(20) not null, "status" varchar(20) not null, "currency" varchar(3) not null, "lines" jsonb not null, "amount" numeric(18,6) not null, "amount_due" numeric(18,6) not null, "period_number" int null, "period_start" timestamptz(3) null, "period_end" timestamptz(3) null, "issued_time" timestamptz(3) null, "due_time" timestamptz(3) null, "delinquency_time" timestamptz(3) null, "paid_time" timestamptz(3) null, "voided_time" timestamptz(3) null, "charge_time" timestamptz(3) null, "autopay_retry_number" int not null default 0, "po_number" varchar(255) null, "notes" text null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "invoices_newest_index" on "invoices" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "invoices_search_index" on "invoices" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("subscription_id", '') || E'\\n' || coalesce("customer_id", '') || E'\\n' || coalesce("website_id", '') || E'\\n' || coalesce("currency", '') || E'\\n' || coalesce("status", '') || E'\\n' || coalesce("type", '') || E'\\n' || coalesce("po_number", '') || E'\\n' || coalesce("notes", ''))) gin_trgm_ops);`,
    )
    this.addSql(
      `alter table "invoices" add constraint "invoices_sequence_unique" unique ("organization_id", "subscription_id", "sequence");`,
    )

    this.addSql(
      `create table "subscription_cancellations" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "subscription_id" varchar(50) not null, "churn_time" timestamptz(3) not null, "canceled_by" varchar(20) not null, "reason" varchar(30) null, "description" varchar(255) null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "subscription_cancellations_newest_index" on "subscription_cancellations" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "subscription_cancellations_search_index" on "subscription_cancellations" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("subscription_id", '') || E'\\n' || coalesce("canceled_by", '') || E'\\n' || coalesce("reason", '') || E'\\n' || coalesce("description", ''))) gin_trgm_ops);`,
    )

    this.addSql(
      `create table "subscription_pauses" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "subscription_id" varchar(50) not null, "status" varchar(20) not null, "effective_time" timestamptz(3) not null, "end_time" timestamptz(3) null, "description" varchar(255) null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "subscription_pauses_newest_index" on "subscription_pauses" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "subscription_pauses_search_index" on "subscription_pauses" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("subscription_id", '') || E'\\n' || coalesce("status", '') || E'\\n' || coalesce("description", ''))) gin_trgm_ops);`,
    )
    this.addSql(
      `create index "subscription_pauses_order_index" on "subscription_pauses" ("organization_id", "subscription_id");`,
    )

    this.addSql(
      `create table "subscription_reactivations" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "subscription_id" varchar(50) not null, "effective_time" timestamptz(3) not null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "subscription_reactivations_newest_index" on "subscription_reactivations" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "subscription_reactivations_search_index" on "subscription_reactivations" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("subscription_id", ''))) gin_trgm_ops);`,
    )

    this.addSql(
      `create table "timeline_entries" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "subscription_id" varchar(50) not null, "type" varchar(50) not null, "occurred_time" timestamptz(3) not null, "cause" varchar(20) not null, "message" text not null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "timeline_entries_order_index" on "timeline_entries" ("organization_id", "subscription_id", "occurred_time");`,
    )

    this.addSql(
      `alter table "plans" add "trial" jsonb null, add "is_trial_only" boolean not null default false, add "setup" jsonb null, add "invoice_time_shift" jsonb null;`,
    )
    this.addSql(`alter table "plans" alter column "recurring_interval" drop not null;`)

    this.addSql(
      `alter table "subscriptions" add "void_time" timestamptz(3) null, add "trial" jsonb null, add "is_trial_only" boolean not null default false, add "recurring_interval" jsonb null, add "invoice_time_shift" jsonb null, add "delinquency_period" varchar(255) null, add "shipping" jsonb null, add "in_trial" boolean not null default false, add "is_trial_converted" boolean not null default false, add "rebill_number" int null, add "renewal_time" timestamptz(3) null, add "churn_time" timestamptz(3) null, add "canceled_by" varchar(20) null, add "cancel_category" varchar(30) null, add "cancel_description" varchar(255) null, add "billing_status" varchar(20) not null default 'draft', add "initial_invoice_id" varchar(50) null, add "recent_invoice_id" varchar(50) null, add "anchor_time" timestamptz(3) null, add "anchor_number" int not null default 1, add "period_start" timestamptz(3) null, add "period_end" timestamptz(3) null, add "invoiced_through" int not null default 0, add "next_invoice" int not null default 1, add "not_before" timestamptz(3) null;`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "invoices" cascade;`)
    this.addSql(`drop table if exists "subscription_cancellations" cascade;`)
    this.addSql(`drop table if exists "subscription_pauses" cascade;`)
    this.addSql(`drop table if exists "subscription_reactivations" cascade;`)
    this.addSql(`drop table if exists "timeline_entries" cascade;`)

    this.addSql(
      `alter table "plans" drop column "trial", drop column "is_trial_only", drop column "setup", drop column "invoice_time_shift";`,
    )
    this.addSql(`alter table "plans" alter column "recurring_interval" set not null;`)

    this.addSql(
      `alter table "subscriptions" drop column "void_time", drop column "trial", drop column "is_trial_only", drop column "recurring_interval", drop column "invoice_time_shift", drop column "delinquency_period", drop column "shipping", drop column "in_trial", drop column "is_trial_converted", drop column "rebill_number", drop column "renewal_time", drop column "churn_time", drop column "canceled_by", drop column "cancel_category", drop column "cancel_description", drop column "billing_status", drop column "initial_invoice_id", drop column "recent_invoice_id", drop column "anchor_time", drop column "anchor_number", drop column "period_start", drop column "period_end", drop column "invoiced_through", drop column "next_invoice", drop column "not_before";`,
    )
  }
}
