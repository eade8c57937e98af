import { Migration } from '@mikro-orm/migrations'

export class Migration20261122022208_wake_ups_that_wait extends Migration {
  override name = 'Migration20261122022208_wake_ups_that_wait'

  override up(): void | Promise<void> {
    this.addSql(`drop index "wake_ups_due_index";`)
    this.addSql(`alter table "wake_ups" add "can_wait" boolean not null default false;`)
    this.addSql(`create index "wake_ups_due_index" on "wake_ups" ("can_wait", "due_time", "id");`)
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "wake_ups_due_index";`)
    this.addSql(`alter table "wake_ups" drop column "can_wait";`)
    this.addSql(`create index "wake_ups_due_index" on "wake_ups" ("due_time", "id");`)
  }
}
