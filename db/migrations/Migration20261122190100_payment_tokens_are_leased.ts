import { Migration } from '@mikro-orm/migrations'

/** A token is leased while the gateway stores its card, so that no row is locked meanwhile. */
export class Migration20261122190100_payment_tokens_are_leased extends Migration {
  override up(): void {
    this.addSql(`
      alter table payment_tokens add column lease_owner varchar(100) null, add column leased_until timestamptz(3) null;
      comment on column payment_tokens.lease_owner is 'The request that uses it now, until it is consumed or the lease ends.';
    `)
  }
}
