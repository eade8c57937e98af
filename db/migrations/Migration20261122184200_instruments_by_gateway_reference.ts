import { Migration } from '@mikro-orm/migrations'

/** The index that finds a payment instrument by its reference at the gateway. */
export class Migration20261122184200_instruments_by_gateway_reference extends Migration {
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql(
      `create index concurrently payment_instruments_reference_index on payment_instruments (organization_id, gateway_reference)`,
    )
  }
}
