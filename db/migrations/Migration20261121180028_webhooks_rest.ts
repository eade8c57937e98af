import { Migration } from '@mikro-orm/migrations'

export class Migration20261121180028_webhooks_rest extends Migration {
  override name = 'Migration20261121180028_webhooks_rest'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "service_credentials" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "host" varchar(255) not null, "auth_cipher" text not null, "status" varchar(10) not null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "service_credentials_newest_index" on "service_credentials" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "service_credentials_search_index" on "service_credentials" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("host", ''))) gin_trgm_ops);`,
    )

    this.addSql(
      `alter table "deliveries" add "resends" int not null default 0, add "resend_due" boolean not null default false, add "ended_time" timestamptz(3) null;`,
    )
    this.addSql(
      `create index "deliveries_webhook_index" on "deliveries" ("organization_id", "webhook_id") where "status" = 'retrying';`,
    )
    this.addSql(`create index "deliveries_resend_index" on "deliveries" ("position") where "resend_due";`)

    this.addSql(
      `alter table "delivery_attempts" add "webhook_id" varchar(50) not null default '', add "event_id" varchar(50) not null default '', add "event_type" varchar(60) not null default '', add "entity_id" varchar(50) not null default '', add "sent_time" timestamptz(3) null, add "created_time" timestamptz(3) not null default now(), add "updated_time" timestamptz(3) not null default now(), add "revision" int not null default 1;`,
    )
    this.addSql(
      `create index "delivery_attempts_newest_index" on "delivery_attempts" ("organization_id", "created_time" desc, "id");`,
    )

    this.addSql(`drop index "events_created_index";`)
    this.addSql(
      `alter table "events" add "updated_time" timestamptz(3) not null default now(), add "revision" int not null default 1;`,
    )
    this.addSql(
      `create index "events_newest_index" on "events" ("organization_id", "created_time" desc, "id");`,
    )

    this.addSql(
      `alter table "webhooks" add "credential_hash" varchar(50) null, add "headers" jsonb not null default '[]', add "deactivation_reason" text null, add "consecutive_failures" int not null default 0, add "first_failure_time" timestamptz(3) null;`,
    )
    this.addSql(
      `create index "webhooks_failing_index" on "webhooks" ("first_failure_time") where "first_failure_time" is not null;`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "service_credentials" cascade;`)

    this.addSql(`drop index "deliveries_webhook_index";`)
    this.addSql(`drop index "deliveries_resend_index";`)
    this.addSql(
      `alter table "deliveries" drop column "resends", drop column "resend_due", drop column "ended_time";`,
    )

    this.addSql(`drop index "delivery_attempts_newest_index";`)
    this.addSql(
      `alter table "delivery_attempts" drop column "webhook_id", drop column "event_id", drop column "event_type", drop column "entity_id", drop column "sent_time", drop column "created_time", drop column "updated_time", drop column "revision";`,
    )

    this.addSql(`drop index "events_newest_index";`)
    this.addSql(`alter table "events" drop column "updated_time", drop column "revision";`)
    this.addSql(`create index "events_created_index" on "events" ("organization_id", "created_time");`)

    this.addSql(`drop index "webhooks_failing_index";`)
    this.addSql(
      `alter table "webhooks" drop column "credential_hash", drop column "headers", drop column "deactivation_reason", drop column "consecutive_failures", drop column "first_failure_time";`,
    )
  }
}
