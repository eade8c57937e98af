import { Migration } from '@mikro-orm/migrations'

export class Migration20261121175533_webhooks_rest extends Migration {
  override name = 'Migration20261121175533_webhooks_rest'

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
      `create index "deliveries_webhook_index" on "deliveries" ("organization_id", "webhook_id") where "status" = 'retrying';`,
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

    this.addSql(`drop index "webhooks_failing_index";`)
    this.addSql(
      `alter table "webhooks" drop column "credential_hash", drop column "headers", drop column "deactivation_reason", drop column "consecutive_failures", drop column "first_failure_time";`,
    )
  }
}
