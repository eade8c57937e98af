import { Migration } from '@mikro-orm/migrations'

export class Migration20261122183100_invoice_numbers_are_unique extends Migration {
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql('alter table invoices drop constraint if exists invoices_number_unique')
    this.addSql('drop index concurrently if exists invoices_number_unique')
    this.addSql(
      'create unique index concurrently invoices_number_unique on invoices (organization_id, invoice_number)',
    )
    this.addSql(
      'alter table invoices add constraint invoices_number_unique unique using index invoices_number_unique',
    )
  }
}
