import { Migration } from '@mikro-orm/migrations'

export class Migration20261122082800_live_periods extends Migration {
  override name = 'Migration20261122082800_live_periods'

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "invoices" add constraint "invoices_live_period_exclude" exclude using btree ("organization_id" with =, "subscription_id" with =, "period_number" with =) where ("status" not in ('voided', 'abandoned')) deferrable initially deferred;`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "invoices" drop constraint "invoices_live_period_exclude";`)
  }
}
