import { Migration } from '@mikro-orm/migrations'

export class Migration20261122153000_transactions_know_why_they_were_declined extends Migration {
  override name = 'Migration20261122153000_transactions_know_why_they_were_declined'

  override up(): void {
    this.addSql(`
      alter table "transactions"
        add column "gateway_transaction_id" varchar(255) null,
        add column "decline_class" varchar(30) null
    `)
    this.addSql(
      `comment on column "transactions"."gateway_transaction_id" is 'The gateway''s own id of the movement.'`,
    )
    this.addSql(`
      comment on column "transactions"."decline_class"
        is 'Why the gateway declined it: hard, soft, lost-or-stolen, insufficient-funds or needs-action.'
    `)
  }
}
