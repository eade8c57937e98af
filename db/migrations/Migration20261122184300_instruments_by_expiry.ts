import { Migration } from '@mikro-orm/migrations'

export class Migration20261122184300_instruments_by_expiry extends Migration {
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql('drop index concurrently if exists payment_instruments_expiry_index')
    this.addSql(
      `create index concurrently payment_instruments_expiry_index on payment_instruments ((exp_year * 12 + exp_month)) where status = 'active'`,
    )
  }
}
