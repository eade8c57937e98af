import { Migration } from '@mikro-orm/migrations'

/** The index that finds a website's transactions before the website is deleted. */
export class Migration20261122164100_transactions_by_website extends Migration {
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql(
      'create index concurrently transactions_website_index on transactions (organization_id, website_id)',
    )
  }
}
