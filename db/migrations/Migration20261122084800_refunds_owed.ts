import { Migration } from '@mikro-orm/migrations'

export class Migration20261122084800_refunds_owed extends Migration {
  override name = 'Migration20261122084800_refunds_owed'

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "transactions" alter column "request_id" type varchar(150), add "undelivered" jsonb not null default '[]', add "refunds_begun" int not null default 0, add "refunds_failed" int not null default 0, add "owed_amount" numeric(18,6) not null default 0, add "next_refund_time" timestamptz(3) null;`,
    )
    this.addSql(
      `create index "transactions_refund_index" on "transactions" ("next_refund_time") where "next_refund_time" is not null;`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(
      `alter table "transactions" drop column "undelivered", drop column "refunds_begun", drop column "refunds_failed", drop column "owed_amount", drop column "next_refund_time";`,
    )
  }
}
