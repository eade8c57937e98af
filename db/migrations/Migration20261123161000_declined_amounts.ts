import { Migration } from '@mikro-orm/migrations'

/** Says of the column what it may hold. */
export class Migration20261123161000_declined_amounts extends Migration {
  override name = 'Migration20261123161000_declined_amounts'

  override up(): void {
    this.addSql(`
      comment on column transactions.decline_class
        is 'Why the gateway declined it: hard, soft, lost-or-stolen, insufficient-funds, needs-action or amount.'
    `)
  }
}
