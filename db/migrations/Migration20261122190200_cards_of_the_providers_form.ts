import { Migration } from '@mikro-orm/migrations'

export class Migration20261122190200_cards_of_the_providers_form extends Migration {
  override up(): void {
    this.addSql(`
      alter table payment_instruments alter column bin drop not null, add column reference_data jsonb null;
      comment on column payment_instruments.bin is 'null for a card that the provider''s own form stored.';
      comment on column payment_instruments.reference_data is 'What identifies a card that the provider''s own form stored.';
    `)
  }
}
