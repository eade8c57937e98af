import { Migration } from '@mikro-orm/migrations'

/** Customers list their own invoices. */
export class Migration20261122192900_invoices_by_customer extends Migration {
  override name = 'Migration20261122192900_invoices_by_customer'

  override up(): void {
    this.addSql(
      'create index if not exists invoices_customer_index on invoices (organization_id, customer_id)',
    )
  }

  override down(): void {
    this.addSql('drop index if exists invoices_customer_index')
  }
}
