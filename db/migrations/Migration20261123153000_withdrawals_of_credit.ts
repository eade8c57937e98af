import { Migration } from '@mikro-orm/migrations'

/** What was taken back of credit of which the merchant has withdrawn the rest before counts as never credited, as it did. */
export class Migration20261123153000_withdrawals_of_credit extends Migration {
  override name = 'Migration20261123153000_withdrawals_of_credit'

  override up(): void {
    this.addSql(
      `alter table invoices add column if not exists credit_withdrawals jsonb not null default '[]'`,
    )
  }
}
