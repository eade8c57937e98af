import { Migration } from '@mikro-orm/migrations'

export class Migration20261122192000_declines_of_invoices extends Migration {
  override name = 'Migration20261122192000_declines_of_invoices'

  override up(): void {
    this.addSql('alter table "invoices" add "declines" jsonb null')
    this.addSql(
      'alter table "subscriptions" add "declined_renewals" jsonb null, add "next_charge_time" timestamptz(3) null',
    )
  }
}
