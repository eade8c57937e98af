import { Migration } from '@mikro-orm/migrations'

/** The amounts of a day come to more than one amount. No row is written anew for it. */
export class Migration20261123180000_charged_in_a_day extends Migration {
  override name = 'Migration20261123180000_charged_in_a_day'

  override up(): void {
    this.addSql('alter table gateway_account_days alter column amount type numeric(30, 6)')
  }
}
