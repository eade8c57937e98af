import { Migration } from '@mikro-orm/migrations'

/** Keeps when an order was given its trial: the end of it moves only by what the start is late from then on. */
export class Migration20261123172000_given_trials extends Migration {
  override name = 'Migration20261123172000_given_trials'

  override up(): void {
    this.addSql(`
      alter table subscriptions add column if not exists trial_given_time timestamptz(3) null;
      comment on column subscriptions.trial_given_time is 'When the trial of its own was last changed; null: never since its creation.';
    `)
  }
}
