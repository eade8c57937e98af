import { Migration } from '@mikro-orm/migrations'

/** Wake-ups carry the next deadline and are leased; a record that cannot advance is quarantined on its row. */
export class Migration20261122090000_timers_lead extends Migration {
  override name = 'Migration20261122090000_timers_lead'

  override up(): void | Promise<void> {
    this.addSql(`drop index "wake_ups_due_index";`)
    this.addSql(
      `alter table "wake_ups" drop column "can_wait", drop column "due_time", add "gateway_call" boolean not null default false, add "due_by" timestamptz(3) not null default now(), add "attributes" jsonb null, add "not_before" timestamptz(3) null, add "lease_owner" varchar(50) null, add "lease_until" timestamptz(3) null;`,
    )
    this.addSql(`alter table "wake_ups" alter column "due_by" drop default;`)
    this.addSql(`create index "wake_ups_order_index" on "wake_ups" ("gateway_call" desc, "due_by", "id");`)
    this.addSql(`create index "wake_ups_record_index" on "wake_ups" ("organization_id", "record_id");`)
    this.addSql(
      `alter table "subscriptions" add "quarantine_count" int not null default 0, add "quarantine_reason" varchar(500) null, add "quarantined_until" timestamptz(3) null;`,
    )
    this.addSql(
      `create index "subscriptions_quarantined_index" on "subscriptions" ("quarantined_until") where "quarantined_until" is not null;`,
    )
    this.addSql(
      `alter table "deliveries" add "quarantine_count" int not null default 0, add "quarantine_reason" varchar(500) null, add "quarantined_until" timestamptz(3) null;`,
    )
    this.addSql(
      `create index "deliveries_quarantined_index" on "deliveries" ("quarantined_until") where "quarantined_until" is not null;`,
    )
    this.addSql(
      `alter table "disputes" add "quarantine_count" int not null default 0, add "quarantine_reason" varchar(500) null, add "quarantined_until" timestamptz(3) null;`,
    )
    this.addSql(
      `create index "disputes_quarantined_index" on "disputes" ("quarantined_until") where "quarantined_until" is not null;`,
    )
    this.addSql(
      `alter table "payment_tokens" add "quarantine_count" int not null default 0, add "quarantine_reason" varchar(500) null, add "quarantined_until" timestamptz(3) null;`,
    )
    this.addSql(
      `create index "payment_tokens_quarantined_index" on "payment_tokens" ("quarantined_until") where "quarantined_until" is not null;`,
    )
    this.addSql(
      `alter table "transactions" add "quarantine_count" int not null default 0, add "quarantine_reason" varchar(500) null, add "quarantined_until" timestamptz(3) null;`,
    )
    this.addSql(
      `create index "transactions_quarantined_index" on "transactions" ("quarantined_until") where "quarantined_until" is not null;`,
    )
    this.addSql(
      `create index "subscriptions_due_index" on "subscriptions" ("organization_id", "next_deadline") where "next_deadline" is not null;`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "subscriptions_due_index";`)
    this.addSql(
      `alter table "subscriptions" drop column "quarantine_count", drop column "quarantine_reason", drop column "quarantined_until";`,
    )
    this.addSql(
      `alter table "deliveries" drop column "quarantine_count", drop column "quarantine_reason", drop column "quarantined_until";`,
    )
    this.addSql(
      `alter table "disputes" drop column "quarantine_count", drop column "quarantine_reason", drop column "quarantined_until";`,
    )
    this.addSql(
      `alter table "payment_tokens" drop column "quarantine_count", drop column "quarantine_reason", drop column "quarantined_until";`,
    )
    this.addSql(
      `alter table "transactions" drop column "quarantine_count", drop column "quarantine_reason", drop column "quarantined_until";`,
    )
    this.addSql(`drop index "wake_ups_order_index";`)
    this.addSql(`drop index "wake_ups_record_index";`)
    this.addSql(
      `alter table "wake_ups" drop column "gateway_call", drop column "due_by", drop column "attributes", drop column "not_before", drop column "lease_owner", drop column "lease_until", add "can_wait" boolean not null default false, add "due_time" timestamptz(3) not null default now();`,
    )
    this.addSql(`create index "wake_ups_due_index" on "wake_ups" ("can_wait", "due_time", "id");`)
  }
}
