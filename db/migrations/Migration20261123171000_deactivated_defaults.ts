import { Migration } from '@mikro-orm/migrations'

/** Keeps apart the customers who chose no default instrument and those whose default was deactivated: backups stand for that. */
export class Migration20261123171000_deactivated_defaults extends Migration {
  override name = 'Migration20261123171000_deactivated_defaults'

  override up(): void {
    this.addSql(`
      alter table customers add column if not exists is_default_deactivated boolean not null default false;
      comment on column customers.is_default_deactivated
        is 'There is no default instrument, because the one that was chosen was deactivated: backups are charged in its place.';
    `)
  }
}
