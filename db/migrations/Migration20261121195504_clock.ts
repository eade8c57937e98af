import { Migration } from '@mikro-orm/migrations'

export class Migration20261121195504_clock extends Migration {
  override name = 'Migration20261121195504_clock'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "fast_forwards" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "subscription_id" varchar(50) not null, "to_time" timestamptz(3) not null, "status" varchar(20) not null default 'running', "detail" varchar(255) null, "progress_time" timestamptz(3) not null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "fast_forwards_subscription_index" on "fast_forwards" ("organization_id", "subscription_id");`,
    )

    this.addSql(`alter table "subscriptions" add "moving_to" timestamptz(3) null;`)
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "fast_forwards" cascade;`)

    this.addSql(`alter table "subscriptions" drop column "moving_to";`)
  }
}
