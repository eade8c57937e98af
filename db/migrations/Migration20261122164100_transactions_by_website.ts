import { Migration } from '@mikro-orm/migrations'

export class Migration20261122164100_transactions_by_website extends Migration {
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql('drop index concurrently if exists transactions_website_index')
    this.addSql(
      'create index concurrently transactions_website_index on transactions (organization_id, website_id)',
    )
  }
}
