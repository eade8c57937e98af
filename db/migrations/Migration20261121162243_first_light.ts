import { Migration } from '@mikro-orm/migrations'

export class Migration20261121162243_first_light extends Migration {
  override name = 'Migration20261121162243_first_light'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "api_keys" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "description" text not null, "type" varchar(20) not null, "acl" jsonb null, "allowed_ips" jsonb null, "api_user" varchar(255) not null, "key_hash" varchar(64) not null, "key_cipher" text not null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(`alter table "api_keys" add constraint "api_keys_key_hash_unique" unique ("key_hash");`)

    this.addSql(
      `create table "customers" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "email" varchar(255) null, "first_name" varchar(255) null, "last_name" varchar(255) null, "website_id" varchar(50) null, "custom_fields" jsonb null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )

    this.addSql(
      `create table "deliveries" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "event_id" varchar(50) not null, "webhook_id" varchar(50) not null, "position" bigserial not null, "status" varchar(10) not null, "attempts" int not null default 0, "lease_until" timestamptz(3) null, "next_attempt_time" timestamptz(3) null, "created_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "deliveries_waiting_index" on "deliveries" ("organization_id", "webhook_id", "position") where "status" = 'waiting';`,
    )
    this.addSql(
      `create index "deliveries_retrying_index" on "deliveries" ("next_attempt_time") where "status" = 'retrying';`,
    )
    this.addSql(`create index "deliveries_event_index" on "deliveries" ("organization_id", "event_id");`)

    this.addSql(
      `create table "delivery_attempts" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "delivery_id" varchar(50) not null, "attempt" int not null, "initiated_time" timestamptz(3) not null, "duration" int not null, "url" text not null, "method" varchar(6) not null, "request_headers" jsonb not null, "status" int null, "response_headers" jsonb null, "response" text null, "failure" varchar(40) null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `alter table "delivery_attempts" add constraint "delivery_attempts_number_unique" unique ("organization_id", "delivery_id", "attempt");`,
    )

    this.addSql(
      `create table "events" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "type" varchar(60) not null, "website_id" varchar(50) null, "entity_id" varchar(50) not null, "event_time" timestamptz(3) not null, "payload" text not null, "created_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(`create index "events_created_index" on "events" ("organization_id", "created_time");`)

    this.addSql(
      `create table "installation" ("name" varchar(50) not null, "value" text not null, primary key ("name"));`,
    )

    this.addSql(
      `create table "organizations" ("id" varchar(50) not null, "name" varchar(255) not null, "settings" jsonb not null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("id"));`,
    )

    this.addSql(
      `create table "plans" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "name" varchar(255) not null, "currency" varchar(3) not null, "pricing" jsonb not null, "recurring_interval" jsonb not null, "is_active" boolean not null default true, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )

    this.addSql(
      `create table "signing_keys" ("kid" varchar(50) not null, "public_jwk" jsonb not null, "private_cipher" text not null, "created_time" timestamptz(3) not null, "signs_from" timestamptz(3) not null, primary key ("kid"));`,
    )

    this.addSql(
      `create table "subscriptions" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "customer_id" varchar(50) not null, "website_id" varchar(50) not null, "items" jsonb not null, "status" varchar(20) not null, "currency" varchar(3) not null, "start_time" timestamptz(3) not null, "abandon_time" timestamptz(3) null, "activation_time" timestamptz(3) null, "autopay" boolean not null default true, "notes" text null, "po_number" varchar(255) null, "custom_fields" jsonb null, "next_deadline" timestamptz(3) null, "settled_through" timestamptz(3) null, "clock_offset" bigint not null default '0', "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "subscriptions_customer_index" on "subscriptions" ("organization_id", "customer_id");`,
    )
    this.addSql(
      `create index "subscriptions_next_deadline_index" on "subscriptions" ("next_deadline") where "next_deadline" is not null;`,
    )
    this.addSql(
      `create index "subscriptions_moved_clock_index" on "subscriptions" ("next_deadline") where "clock_offset" > 0;`,
    )

    this.addSql(
      `create table "wake_ups" ("id" bigserial primary key, "workflow" varchar(30) not null, "organization_id" varchar(50) not null, "record_id" varchar(50) not null, "due_time" timestamptz(3) not null, "refusals" int not null default 0, "last_error" text null);`,
    )
    this.addSql(`create index "wake_ups_due_index" on "wake_ups" ("due_time", "id");`)

    this.addSql(
      `create table "webhooks" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "url" text not null, "method" varchar(6) not null, "events_filter" jsonb not null, "status" varchar(10) not null, "website_id" varchar(50) null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )

    this.addSql(
      `create table "websites" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "name" varchar(255) not null, "url" text null, "service_phone" varchar(255) null, "service_email" varchar(255) null, "custom_fields" jsonb null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "api_keys" cascade;`)
    this.addSql(`drop table if exists "customers" cascade;`)
    this.addSql(`drop table if exists "deliveries" cascade;`)
    this.addSql(`drop table if exists "delivery_attempts" cascade;`)
    this.addSql(`drop table if exists "events" cascade;`)
    this.addSql(`drop table if exists "installation" cascade;`)
    this.addSql(`drop table if exists "organizations" cascade;`)
    this.addSql(`drop table if exists "plans" cascade;`)
    this.addSql(`drop table if exists "signing_keys" cascade;`)
    this.addSql(`drop table if exists "subscriptions" cascade;`)
    this.addSql(`drop table if exists "wake_ups" cascade;`)
    this.addSql(`drop table if exists "webhooks" cascade;`)
    this.addSql(`drop table if exists "websites" cascade;`)
  }
}
