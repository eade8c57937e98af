import { Migration } from '@mikro-orm/migrations'

/** The first text of `credit_of_invoices` lacked the column. */
export class Migration20261123123100_refunds_of_open_invoices extends Migration {
  override name = 'Migration20261123123100_refunds_of_open_invoices'

  override up(): void {
    this.addSql(
      `alter table invoices add column if not exists refunded_while_open numeric(18,6) not null default '0'`,
    )
  }
}
