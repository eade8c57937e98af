import { Migration } from '@mikro-orm/migrations'

/**
 * Room on the pages of deliveries, which are changed twice soon after they are made: taking one then needs no new index
 * entries, and its page is not split.
 */
export class Migration20261121193600_fill_factor extends Migration {
  override name = 'Migration20261121193600_fill_factor'

  override up(): void {
    this.addSql('alter table "deliveries" set (fillfactor = 50);')
  }

  override down(): void {
    this.addSql('alter table "deliveries" reset (fillfactor);')
  }
}
