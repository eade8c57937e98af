import { Migration } from '@mikro-orm/migrations'

export class Migration20261123010000_credit_of_invoices extends Migration {
  override name = 'Migration20261123010000_credit_of_invoices'

  override up(): void {
    this.addSql(
      `alter table "invoices" add "amount_credited" numeric(18,6) not null default '0', add "credit_taken_back" numeric(18,6) not null default '0', add "refunded_while_open" numeric(18,6) not null default '0'`,
    )
    this.addSql('alter table "credit_memos" add "subscription_id" varchar(50) null')
  }
}
