import { Migration } from '@mikro-orm/migrations'

/** A resend requested while another was under way was lost. */
export class Migration20261123170000_resends_under_way extends Migration {
  override name = 'Migration20261123170000_resends_under_way'

  override up(): void {
    this.addSql(`
      alter table deliveries add column if not exists resend_again boolean not null default false;
      comment on column deliveries.resend_again is 'Another attempt was requested while a requested one was under way.';
    `)
  }
}
