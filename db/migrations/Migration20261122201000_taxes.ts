import { Migration } from '@mikro-orm/migrations'

/** How organizations tax what they sell, and the tax categories of products. */
export class Migration20261122201000_taxes extends Migration {
  override up(): void {
    this.addSql('alter table organizations add column taxes jsonb null')
    this.addSql('alter table products add column tax_category_id varchar(50) null')
    this.addSql(
      `comment on column organizations.taxes is 'Rates are decimal strings in percent. Not one of the settings, which are read with every order.'`,
    )
  }

  override down(): void {
    this.addSql('alter table products drop column tax_category_id')
    this.addSql('alter table organizations drop column taxes')
  }
}
