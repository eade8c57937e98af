import { Migration } from '@mikro-orm/migrations'

export class Migration20261122203100_refunds_of_credit_memos extends Migration {
  override name = 'Migration20261122203100_refunds_of_credit_memos'

  override up(): void {
    this.addSql(`alter table "credit_memos" add "transaction_allocations" jsonb not null default '[]'::jsonb`)
    this.addSql('alter table "transactions" add "credit_memo_id" varchar(50) null')
  }
}
