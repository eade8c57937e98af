import { Migration } from '@mikro-orm/migrations'

export class Migration20261121205902_fixmoney extends Migration {
  override name = 'Migration20261121205902_fixmoney'

  override up(): void | Promise<void> {
    this.addSql(`alter table "transactions" add "shares" jsonb not null default '{}';`)
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "transactions" drop column "shares";`)
  }
}
