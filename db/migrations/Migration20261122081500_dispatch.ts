import { Migration } from '@mikro-orm/migrations'

export class Migration20261122081500_dispatch extends Migration {
  override name = 'Migration20261122081500_dispatch'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "worker_processes" ("id" varchar(50) not null, "alive_until" timestamptz(3) not null, "in_flight" jsonb not null, primary key ("id"));`,
    )
    this.addSql(`alter table "deliveries" add "lease_owner" varchar(50) null;`)
    this.addSql(`alter table "webhooks" add "canceled_through" bigint null;`)
    this.addSql(`drop index "deliveries_waiting_index";`)
    this.addSql(`drop index "deliveries_resend_index";`)
    this.addSql(`drop index "deliveries_webhook_index";`)
    this.addSql(
      `create index "deliveries_due_index" on "deliveries" ("organization_id", "webhook_id", "resend_due" desc, "position") where "status" = 'waiting' or "resend_due";`,
    )
    this.addSql(
      `create index "deliveries_webhook_index" on "deliveries" ("organization_id", "webhook_id", "position") where "status" = 'retrying';`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "deliveries_due_index";`)
    this.addSql(`drop index "deliveries_webhook_index";`)
    this.addSql(
      `create index "deliveries_webhook_index" on "deliveries" ("organization_id", "webhook_id") where "status" = 'retrying';`,
    )
    this.addSql(`create index "deliveries_resend_index" on "deliveries" ("position") where "resend_due";`)
    this.addSql(
      `create index "deliveries_waiting_index" on "deliveries" ("organization_id", "webhook_id", "position") where "status" = 'waiting';`,
    )
    this.addSql(`alter table "webhooks" drop column "canceled_through";`)
    this.addSql(`alter table "deliveries" drop column "lease_owner";`)
    this.addSql(`drop table "worker_processes";`)
  }
}
