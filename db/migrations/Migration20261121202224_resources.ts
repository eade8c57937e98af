import { Migration } from '@mikro-orm/migrations'

export class Migration20261121202224_resources extends Migration {
  override name = 'Migration20261121202224_resources'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "authentication_tokens" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "customer_id" varchar(50) not null, "token_hash" varchar(64) not null, "expired_time" timestamptz(3) not null, "spent_time" timestamptz(3) null, "created_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `alter table "authentication_tokens" add constraint "authentication_tokens_token_hash_unique" unique ("token_hash");`,
    )
    this.addSql(
      `create index "authentication_tokens_customer_index" on "authentication_tokens" ("organization_id", "customer_id");`,
    )

    this.addSql(
      `create table "customer_tokens" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "customer_id" varchar(50) not null, "authentication_token_id" varchar(50) not null, "acl" jsonb not null, "expired_time" timestamptz(3) not null, "created_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "customer_tokens_customer_index" on "customer_tokens" ("organization_id", "customer_id");`,
    )
    this.addSql(
      `create index "customer_tokens_origin_index" on "customer_tokens" ("organization_id", "authentication_token_id");`,
    )

    this.addSql(
      `create table "customer_token_keys" ("kid" varchar(50) not null, "key_cipher" text not null, "created_time" timestamptz(3) not null, primary key ("kid"));`,
    )

    this.addSql(
      `create table "products" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "name" varchar(255) not null, "unit_label" varchar(255) null, "description" text null, "custom_fields" jsonb null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "products_newest_index" on "products" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(`create index "products_by_id_index" on "products" ("organization_id", lower("id"));`)
    this.addSql(
      `create index "products_search_index" on "products" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("name", '') || E'\\n' || coalesce("unit_label", '') || E'\\n' || coalesce("description", ''))) gin_trgm_ops);`,
    )

    this.addSql(`create index "api_keys_by_id_index" on "api_keys" ("organization_id", lower("id"));`)

    this.addSql(`alter table "customers" add "primary_address" jsonb null, add "lead_source" jsonb null;`)
    this.addSql(`create index "customers_by_id_index" on "customers" ("organization_id", lower("id"));`)
    this.addSql(`create index "customers_website_index" on "customers" ("organization_id", "website_id");`)

    this.addSql(`drop index "disputes_by_status_index";`)
    this.addSql(`create index "disputes_by_id_index" on "disputes" ("organization_id", lower("id"));`)
    this.addSql(
      `create index "disputes_status_newest_index" on "disputes" ("organization_id", "status", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "disputes_category_newest_index" on "disputes" ("organization_id", "category", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "disputes_type_newest_index" on "disputes" ("organization_id", "type", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "disputes_by_customer_id_index" on "disputes" ("organization_id", lower("customer_id"), "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "disputes_by_transaction_id_index" on "disputes" ("organization_id", lower("transaction_id"), "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "disputes_by_reason_code_index" on "disputes" ("organization_id", lower("reason_code"), "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "disputes_by_case_id_index" on "disputes" ("organization_id", lower("case_id"), "created_time" desc, "id") where "case_id" is not null;`,
    )
    this.addSql(
      `create index "disputes_by_acquirer_reference_number_index" on "disputes" ("organization_id", lower("acquirer_reference_number"), "created_time" desc, "id") where "acquirer_reference_number" is not null;`,
    )
    this.addSql(`create index "disputes_amount_index" on "disputes" ("organization_id", "amount");`)
    this.addSql(`create index "disputes_posted_index" on "disputes" ("organization_id", "posted_time");`)
    this.addSql(
      `create index "disputes_by_deadline_index" on "disputes" ("organization_id", "deadline_time") where "deadline_time" is not null;`,
    )

    this.addSql(`create index "invoices_by_id_index" on "invoices" ("organization_id", lower("id"));`)

    this.addSql(`alter table "payment_instruments" add "risk_metadata" jsonb null;`)
    this.addSql(
      `create index "payment_instruments_by_id_index" on "payment_instruments" ("organization_id", lower("id"));`,
    )

    this.addSql(`alter table "plans" add "product_id" varchar(50) null;`)
    this.addSql(`create index "plans_by_id_index" on "plans" ("organization_id", lower("id"));`)
    this.addSql(`create index "plans_product_index" on "plans" ("organization_id", "product_id");`)

    this.addSql(
      `create index "service_credentials_by_id_index" on "service_credentials" ("organization_id", lower("id"));`,
    )

    this.addSql(
      `alter table "subscriptions" add "delivery_address" jsonb null, add "billing_address" jsonb null, add "risk_metadata" jsonb null;`,
    )
    this.addSql(
      `create index "subscriptions_by_id_index" on "subscriptions" ("organization_id", lower("id"));`,
    )

    this.addSql(
      `create index "subscription_cancellations_by_id_index" on "subscription_cancellations" ("organization_id", lower("id"));`,
    )

    this.addSql(
      `create index "subscription_pauses_by_id_index" on "subscription_pauses" ("organization_id", lower("id"));`,
    )

    this.addSql(
      `create index "subscription_reactivations_by_id_index" on "subscription_reactivations" ("organization_id", lower("id"));`,
    )

    this.addSql(`create index "transactions_by_id_index" on "transactions" ("organization_id", lower("id"));`)

    this.addSql(`create index "webhooks_by_id_index" on "webhooks" ("organization_id", lower("id"));`)

    this.addSql(`create index "websites_by_id_index" on "websites" ("organization_id", lower("id"));`)

    // What q searches has grown; the generator tells indexes apart by their names alone.
    this.addSql(`drop index "plans_search_index";`)
    this.addSql(
      `create index "plans_search_index" on "plans" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("name", '') || E'\\n' || coalesce("currency", '') || E'\\n' || coalesce("product_id", ''))) gin_trgm_ops);`,
    )

    this.addSql(
      `update "subscriptions" set "items" = (select jsonb_agg('{"quantityFilled": 0, "usageLimits": null, "revision": 1}'::jsonb || "item") from jsonb_array_elements("items") "item");`,
    )
  }

  override down(): void | Promise<void> {
    // What q searches had grown; the generator tells indexes apart by their names alone.
    this.addSql(`drop index "plans_search_index";`)
    this.addSql(
      `create index "plans_search_index" on "plans" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("name", '') || E'\\n' || coalesce("currency", ''))) gin_trgm_ops);`,
    )

    this.addSql(`drop table if exists "authentication_tokens" cascade;`)
    this.addSql(`drop table if exists "customer_tokens" cascade;`)
    this.addSql(`drop table if exists "customer_token_keys" cascade;`)
    this.addSql(`drop table if exists "products" cascade;`)

    this.addSql(`drop index "api_keys_by_id_index";`)

    this.addSql(`drop index "customers_by_id_index";`)
    this.addSql(`drop index "customers_website_index";`)
    this.addSql(`alter table "customers" drop column "primary_address", drop column "lead_source";`)

    this.addSql(`drop index "disputes_by_id_index";`)
    this.addSql(`drop index "disputes_status_newest_index";`)
    this.addSql(`drop index "disputes_category_newest_index";`)
    this.addSql(`drop index "disputes_type_newest_index";`)
    this.addSql(`drop index "disputes_by_customer_id_index";`)
    this.addSql(`drop index "disputes_by_transaction_id_index";`)
    this.addSql(`drop index "disputes_by_reason_code_index";`)
    this.addSql(`drop index "disputes_by_case_id_index";`)
    this.addSql(`drop index "disputes_by_acquirer_reference_number_index";`)
    this.addSql(`drop index "disputes_amount_index";`)
    this.addSql(`drop index "disputes_posted_index";`)
    this.addSql(`drop index "disputes_by_deadline_index";`)
    this.addSql(
      `CREATE INDEX disputes_by_status_index ON public.disputes USING btree (organization_id, lower((status)::text), created_time DESC, id);`,
    )

    this.addSql(`drop index "invoices_by_id_index";`)

    this.addSql(`drop index "payment_instruments_by_id_index";`)
    this.addSql(`alter table "payment_instruments" drop column "risk_metadata";`)

    this.addSql(`drop index "plans_by_id_index";`)
    this.addSql(`drop index "plans_product_index";`)
    this.addSql(`alter table "plans" drop column "product_id";`)

    this.addSql(`drop index "service_credentials_by_id_index";`)

    this.addSql(`drop index "subscription_cancellations_by_id_index";`)

    this.addSql(`drop index "subscription_pauses_by_id_index";`)

    this.addSql(`drop index "subscription_reactivations_by_id_index";`)

    this.addSql(`drop index "subscriptions_by_id_index";`)
    this.addSql(
      `alter table "subscriptions" drop column "delivery_address", drop column "billing_address", drop column "risk_metadata";`,
    )

    this.addSql(`drop index "transactions_by_id_index";`)

    this.addSql(`drop index "webhooks_by_id_index";`)

    this.addSql(`drop index "websites_by_id_index";`)
  }
}
