import { Migration } from '@mikro-orm/migrations'

export class Migration20261121173626_contract extends Migration {
  override name = 'Migration20261121173626_contract'

  override up(): void | Promise<void> {
    this.addSql('create extension if not exists pg_trgm')
    this.addSql('create extension if not exists btree_gin')
    this.addSql(
      `create table "disputes" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "customer_id" varchar(50) null, "transaction_id" varchar(50) not null, "currency" varchar(3) not null, "amount" numeric(18,6) not null, "acquirer_reference_number" varchar(255) null, "case_id" varchar(255) null, "reason_code" varchar(255) not null, "reason_description" varchar(512) null, "category" varchar(20) not null, "type" varchar(30) not null, "status" varchar(20) not null, "posted_time" timestamptz(3) not null, "deadline_time" timestamptz(3) null, "raw_response" text null, "resolved_time" timestamptz(3) null, "source" varchar(20) null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "disputes_newest_index" on "disputes" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "disputes_search_index" on "disputes" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("customer_id", '') || E'\\n' || coalesce("transaction_id", '') || E'\\n' || coalesce("currency", '') || E'\\n' || coalesce("acquirer_reference_number", '') || E'\\n' || coalesce("case_id", '') || E'\\n' || coalesce("reason_code", '') || E'\\n' || coalesce("category", '') || E'\\n' || coalesce("type", '') || E'\\n' || coalesce("status", ''))) gin_trgm_ops);`,
    )
    this.addSql(
      `create index "disputes_transaction_index" on "disputes" ("organization_id", "transaction_id");`,
    )
    this.addSql(
      `create index "disputes_status_index" on "disputes" ("organization_id", "status", "created_time");`,
    )
    this.addSql(
      `create index "disputes_deadline_index" on "disputes" ("deadline_time") where "status" = 'response-needed' and "deadline_time" is not null;`,
    )

    this.addSql(
      `create table "idempotency_records" ("organization_id" varchar(50) not null, "operation" varchar(100) not null, "key" varchar(255) not null, "request_hash" varchar(64) not null, "answer_cipher" text not null, "created_time" timestamptz(3) not null, primary key ("organization_id", "operation", "key"));`,
    )
    this.addSql(`create index "idempotency_records_created_index" on "idempotency_records" ("created_time");`)

    this.addSql(
      `create table "rate_limits" ("key" varchar(255) not null, "points" int not null default 0, "expire" bigint null, primary key ("key"));`,
    )

    this.addSql(
      `create table "transactions" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "type" varchar(20) not null, "customer_id" varchar(50) not null, "currency" varchar(3) not null, "amount" numeric(18,6) not null, "payment_instruction" jsonb not null, "result" varchar(20) null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "transactions_newest_index" on "transactions" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "transactions_search_index" on "transactions" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("customer_id", '') || E'\\n' || coalesce("currency", '') || E'\\n' || coalesce("type", '') || E'\\n' || coalesce("result", ''))) gin_trgm_ops);`,
    )
    this.addSql(
      `create index "transactions_customer_index" on "transactions" ("organization_id", "customer_id");`,
    )

    this.addSql(
      `create index "api_keys_newest_index" on "api_keys" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "api_keys_search_index" on "api_keys" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("description", '') || E'\\n' || coalesce("api_user", ''))) gin_trgm_ops);`,
    )

    this.addSql(
      `create index "customers_newest_index" on "customers" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "customers_search_index" on "customers" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("email", '') || E'\\n' || coalesce("first_name", '') || E'\\n' || coalesce("last_name", '') || E'\\n' || coalesce("website_id", ''))) gin_trgm_ops);`,
    )

    this.addSql(
      `create index "plans_newest_index" on "plans" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "plans_search_index" on "plans" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("name", '') || E'\\n' || coalesce("currency", ''))) gin_trgm_ops);`,
    )

    this.addSql(
      `create index "subscriptions_newest_index" on "subscriptions" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "subscriptions_search_index" on "subscriptions" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("customer_id", '') || E'\\n' || coalesce("website_id", '') || E'\\n' || coalesce("status", '') || E'\\n' || coalesce("currency", '') || E'\\n' || coalesce("po_number", '') || E'\\n' || coalesce("notes", ''))) gin_trgm_ops);`,
    )

    this.addSql(
      `create index "webhooks_newest_index" on "webhooks" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "webhooks_search_index" on "webhooks" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("url", '') || E'\\n' || coalesce("website_id", ''))) gin_trgm_ops);`,
    )

    this.addSql(
      `create index "websites_newest_index" on "websites" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "websites_search_index" on "websites" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("name", '') || E'\\n' || coalesce("url", '') || E'\\n' || coalesce("service_phone", '') || E'\\n' || coalesce("service_email", ''))) gin_trgm_ops);`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "disputes" cascade;`)
    this.addSql(`drop table if exists "idempotency_records" cascade;`)
    this.addSql(`drop table if exists "rate_limits" cascade;`)
    this.addSql(`drop table if exists "transactions" cascade;`)

    this.addSql(`drop index "api_keys_newest_index";`)
    this.addSql(`drop index "api_keys_search_index";`)

    this.addSql(`drop index "customers_newest_index";`)
    this.addSql(`drop index "customers_search_index";`)

    this.addSql(`drop index "plans_newest_index";`)
    this.addSql(`drop index "plans_search_index";`)

    this.addSql(`drop index "subscriptions_newest_index";`)
    this.addSql(`drop index "subscriptions_search_index";`)

    this.addSql(`drop index "webhooks_newest_index";`)
    this.addSql(`drop index "webhooks_search_index";`)

    this.addSql(`drop index "websites_newest_index";`)
    this.addSql(`drop index "websites_search_index";`)
  }
}
