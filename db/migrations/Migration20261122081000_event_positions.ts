import { Migration } from '@mikro-orm/migrations'

export class Migration20261122081000_event_positions extends Migration {
  override name = 'Migration20261122081000_event_positions'

  override up(): void | Promise<void> {
    this.addSql(`alter table "events" add "position" bigint null;`)
    // Those that are there come before all that will be written, in the order of their creation.
    this.addSql(
      `update events set position = numbered.position
         from (select organization_id, id, row_number() over (order by created_time, id) as position from events) numbered
        where events.organization_id = numbered.organization_id and events.id = numbered.id;`,
    )
    this.addSql(`alter table "events" alter "position" set not null;`)
    this.addSql(`create index "events_position_index" on "events" ("organization_id", "position");`)
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "events" drop column "position";`)
  }
}
