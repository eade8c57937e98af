import { Migration } from '@mikro-orm/migrations'

export class Migration20261122184200_instruments_by_gateway_reference extends Migration {
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql('drop index concurrently if exists payment_instruments_reference_index')
    this.addSql(
      `create index concurrently payment_instruments_reference_index on payment_instruments (organization_id, gateway_reference)`,
    )
  }
}
