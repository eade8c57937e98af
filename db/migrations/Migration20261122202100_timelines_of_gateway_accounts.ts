import { Migration } from '@mikro-orm/migrations'

/** Timeline entries of gateway accounts beside those of other records. */
export class Migration20261122202100_timelines_of_gateway_accounts extends Migration {
  override name = 'Migration20261122202100_timelines_of_gateway_accounts'

  override up(): void {
    this.addSql(`
      alter table timeline_entries add column gateway_account_id varchar(50) null;
      create index timeline_entries_gateway_account_index on timeline_entries (organization_id, gateway_account_id, occurred_time) where gateway_account_id is not null;
    `)
  }
}
