import { Migration } from '@mikro-orm/migrations'

export class Migration20261121230423_first_wake_ups extends Migration {
  override name = 'Migration20261121230423_first_wake_ups'

  override up(): void | Promise<void> {
    this.addSql(`alter table "subscriptions" add "next_turn" varchar(20) null;`)

    this.addSql(`alter table "wake_ups" add "starts" boolean not null default false;`)
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "subscriptions" drop column "next_turn";`)

    this.addSql(`alter table "wake_ups" drop column "starts";`)
  }
}
