import { Migration } from '@mikro-orm/migrations'

export class Migration20261122182100_reminders_of_orders extends Migration {
  override name = 'Migration20261122182100_reminders_of_orders'

  override up(): void {
    this.addSql(`
      alter table "subscriptions"
        add "reminders_from" timestamptz(3) null,
        add "renewal_reminder_time" timestamptz(3) null,
        add "renewal_reminder_number" int null,
        add "trial_reminder_time" timestamptz(3) null,
        add "trial_reminder_number" int null,
        add "abandon_reminder_time" timestamptz(3) null,
        add "abandon_reminder_number" int null`)
  }
}
