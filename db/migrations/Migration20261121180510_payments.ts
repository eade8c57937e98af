import { Migration } from '@mikro-orm/migrations'

export class Migration20261121180510_payments extends Migration {
  override name = 'Migration20261121180510_payments'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "payment_instruments" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "customer_id" varchar(50) not null, "method" varchar(20) not null, "bin" varchar(6) not null, "last4" varchar(4) not null, "brand" varchar(20) not null, "exp_month" smallint not null, "exp_year" smallint not null, "status" varchar(20) not null, "billing_address" jsonb null, "gateway" varchar(50) not null, "gateway_reference" varchar(255) not null, "card_fingerprint" varchar(64) not null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "payment_instruments_newest_index" on "payment_instruments" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "payment_instruments_search_index" on "payment_instruments" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("customer_id", '') || E'\\n' || coalesce("method", '') || E'\\n' || coalesce("bin", '') || E'\\n' || coalesce("last4", '') || E'\\n' || coalesce("brand", '') || E'\\n' || coalesce("status", ''))) gin_trgm_ops);`,
    )
    this.addSql(
      `create index "payment_instruments_customer_index" on "payment_instruments" ("organization_id", "customer_id");`,
    )

    this.addSql(
      `create table "payment_tokens" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "method" varchar(20) not null, "bin" varchar(6) null, "last4" varchar(4) null, "brand" varchar(20) null, "exp_month" smallint not null, "exp_year" smallint not null, "card_cipher" text null, "card_fingerprint" varchar(64) null, "billing_address" jsonb null, "billing_address_hash" varchar(64) null, "email" varchar(255) null, "ip_address" varchar(45) null, "device" varchar(255) null, "risk_metadata" jsonb null, "lead_source" jsonb null, "is_used" boolean not null default false, "usage_time" timestamptz(3) null, "expiration_time" timestamptz(3) not null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "payment_tokens_newest_index" on "payment_tokens" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "payment_tokens_card_held_index" on "payment_tokens" ("expiration_time") where "card_cipher" is not null;`,
    )
    this.addSql(
      `create index "payment_tokens_card_fingerprint_index" on "payment_tokens" ("organization_id", "card_fingerprint", "created_time") where "card_fingerprint" is not null;`,
    )
    this.addSql(
      `create index "payment_tokens_ip_address_index" on "payment_tokens" ("organization_id", "ip_address", "created_time") where "ip_address" is not null;`,
    )
    this.addSql(
      `create index "payment_tokens_device_index" on "payment_tokens" ("organization_id", "device", "created_time") where "device" is not null;`,
    )
    this.addSql(
      `create index "payment_tokens_email_index" on "payment_tokens" ("organization_id", "email", "created_time") where "email" is not null;`,
    )
    this.addSql(
      `create index "payment_tokens_billing_address_hash_index" on "payment_tokens" ("organization_id", "billing_address_hash", "created_time") where "billing_address_hash" is not null;`,
    )

    this.addSql(`alter table "customers" add "default_payment_instrument_id" varchar(50) null;`)

    this.addSql(
      `alter table "transactions" add "parent_transaction_id" varchar(50) null, add "status" varchar(20) not null default 'completed', add "gateway" varchar(50) null, add "request_id" varchar(100) null, add "raw_response" text null, add "gateway_reference" varchar(255) null, add "card_fingerprint" varchar(64) null, add "next_inquiry_time" timestamptz(3) null, add "timeout_time" timestamptz(3) null;`,
    )
    this.addSql(
      `create index "transactions_inquiry_index" on "transactions" ("next_inquiry_time") where "status" = 'pending';`,
    )
    this.addSql(
      `create index "transactions_parent_index" on "transactions" ("organization_id", "parent_transaction_id") where "parent_transaction_id" is not null;`,
    )
    this.addSql(
      `create index "transactions_card_index" on "transactions" ("organization_id", "card_fingerprint", "created_time") where "card_fingerprint" is not null;`,
    )
    this.addSql(
      `create unique index "transactions_request_index" on "transactions" ("organization_id", "request_id") where "request_id" is not null;`,
    )
    // The test gateway's own schema: by hand, because it is a system of its own and no entity of the service.
    this.addSql('create schema test_gateway')
    this.addSql(
      `create table test_gateway.cards (organization_id varchar(50) not null, reference varchar(50) not null, behaviour varchar(20) not null, last4 varchar(4) not null, created_time timestamptz not null default now(), primary key (organization_id, reference))`,
    )
    this.addSql(
      `create table test_gateway.ledger (position bigint generated always as identity, organization_id varchar(50) not null, request_id varchar(100) not null, kind varchar(10) not null, reference varchar(50), charge_request_id varchar(100), amount numeric(18,6) not null, currency varchar(3) not null, result varchar(20) not null, reason varchar(50), calls int not null default 1, created_time timestamptz not null default now(), primary key (organization_id, request_id))`,
    )
    this.addSql('create index ledger_reference_index on test_gateway.ledger (organization_id, reference)')
    this.addSql(
      'create index ledger_charge_index on test_gateway.ledger (organization_id, charge_request_id)',
    )
  }

  override down(): void | Promise<void> {
    this.addSql('drop schema if exists test_gateway cascade')
    this.addSql(`drop table if exists "payment_instruments" cascade;`)
    this.addSql(`drop table if exists "payment_tokens" cascade;`)

    this.addSql(`alter table "customers" drop column "default_payment_instrument_id";`)

    this.addSql(`drop index "transactions_inquiry_index";`)
    this.addSql(`drop index "transactions_parent_index";`)
    this.addSql(`drop index "transactions_card_index";`)
    this.addSql(`drop index "transactions_request_index";`)
    this.addSql(
      `alter table "transactions" drop column "parent_transaction_id", drop column "status", drop column "gateway", drop column "request_id", drop column "raw_response", drop column "gateway_reference", drop column "card_fingerprint", drop column "next_inquiry_time", drop column "timeout_time";`,
    )
  }
}
