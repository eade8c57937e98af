import { Migration } from '@mikro-orm/migrations'

export class Migration20261121194310_charging extends Migration {
  override name = 'Migration20261121194310_charging'

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "invoices" add "attempts" int not null default 0, add "declined_time" timestamptz(3) null, add "charge" jsonb null, add "amount_paid" numeric(18,6) not null default '0', add "amount_refunded" numeric(18,6) not null default '0', add "is_disputed" boolean not null default false;`,
    )

    this.addSql(
      `alter table "subscriptions" add "payment_instrument_id" varchar(50) null, add "late_charge_time" timestamptz(3) null;`,
    )

    this.addSql(
      `alter table "transactions" add "invoice_ids" jsonb not null default '[]', add "payments" jsonb null, add "subscription_id" varchar(50) null, add "charged_time" timestamptz(3) null;`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(
      `alter table "invoices" drop column "attempts", drop column "declined_time", drop column "charge", drop column "amount_paid", drop column "amount_refunded", drop column "is_disputed";`,
    )

    this.addSql(
      `alter table "subscriptions" drop column "payment_instrument_id", drop column "late_charge_time";`,
    )

    this.addSql(
      `alter table "transactions" drop column "invoice_ids", drop column "payments", drop column "subscription_id", drop column "charged_time";`,
    )
  }
}
