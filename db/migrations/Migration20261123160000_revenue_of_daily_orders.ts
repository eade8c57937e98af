import { Migration } from '@mikro-orm/migrations'

/** Thirty days of an amount may be more than an amount. No row is written anew for it. */
export class Migration20261123160000_revenue_of_daily_orders extends Migration {
  override name = 'Migration20261123160000_revenue_of_daily_orders'

  override up(): void {
    this.addSql('alter table subscriptions alter column mrr type numeric(24, 6)')
  }
}
