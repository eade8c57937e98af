import { Migration } from '@mikro-orm/migrations'

/** The test gateway has a card whose charges are disputed. */
export class Migration20261122202300_test_cards_are_disputed extends Migration {
  override name = 'Migration20261122202300_test_cards_are_disputed'

  override up(): void {
    this.addSql(`
      alter table test_gateway.ledger add column is_disputed boolean not null default false;
      create index cards_disputed_index on test_gateway.cards (organization_id, reference) where behaviour = 'dispute';
    `)
  }
}
