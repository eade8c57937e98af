import { Migration } from '@mikro-orm/migrations'

export class Migration20261122184100_transactions_by_gateway_id extends Migration {
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql('drop index concurrently if exists transactions_gateway_id_index')
    this.addSql(
      `create index concurrently transactions_gateway_id_index on transactions (organization_id, gateway_transaction_id) where gateway_transaction_id is not null`,
    )
  }
}
