import { Migration } from '@mikro-orm/migrations'

export class Migration20261121174629_payments extends Migration {
  override name = 'Migration20261121174629_payments'

  override up(): void | Promise<void> {
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
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "payment_tokens" cascade;`)
  }
}
