import { Migration } from '@mikro-orm/migrations'

export class Migration20261122183200_organizations_have_a_logo extends Migration {
  override up(): void {
    this.addSql('alter table organizations add column logo text null')
    this.addSql(
      `comment on column organizations.logo is 'A data URL. Not one of the settings, which are read with every order.'`,
    )
  }

  override down(): void {
    this.addSql('alter table organizations drop column logo')
  }
}
