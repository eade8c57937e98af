import { Migration } from '@mikro-orm/migrations'

export class Migration20261121175221_contract_rest extends Migration {
  override name = 'Migration20261121175221_contract_rest'

  override up(): void | Promise<void> {
    this.addSql(`drop index "disputes_status_index";`)
    this.addSql(
      `create index "disputes_by_status_index" on "disputes" ("organization_id", lower("status"), "created_time" desc, "id");`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "disputes_by_status_index";`)
    this.addSql(
      `create index "disputes_status_index" on "disputes" ("organization_id", "status", "created_time");`,
    )
  }
}
