import { Migration } from '@mikro-orm/migrations'

/** Authorizations end by themselves, at the test gateway too. */
export class Migration20261122202000_authorizations extends Migration {
  override name = 'Migration20261122202000_authorizations'

  override up(): void {
    this.addSql(`
      alter table transactions add column authorization_expiry_time timestamptz(3) null;
      comment on column transactions.authorization_expiry_time is 'When an approved authorization ends by itself; null: the gateway names no time.';
      alter table test_gateway.ledger add column expiry_time timestamptz null;
    `)
  }
}
