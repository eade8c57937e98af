import { Migration } from '@mikro-orm/migrations'

/** Orders keep the time of their last event, so that no later event has an earlier one. */
export class Migration20261122182000_times_of_events extends Migration {
  override name = 'Migration20261122182000_times_of_events'

  override up(): void {
    this.addSql('alter table "subscriptions" add "last_event_time" timestamptz(3) null')
  }
}
