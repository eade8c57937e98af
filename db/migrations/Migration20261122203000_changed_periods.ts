import { Migration } from '@mikro-orm/migrations'

export class Migration20261122203000_changed_periods extends Migration {
  override name = 'Migration20261122203000_changed_periods'

  override up(): void {
    this.addSql('alter table "subscriptions" add "changed_period" jsonb null')
  }
}
