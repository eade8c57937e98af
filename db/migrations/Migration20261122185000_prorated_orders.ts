import { Migration } from '@mikro-orm/migrations'

export class Migration20261122185000_prorated_orders extends Migration {
  override name = 'Migration20261122185000_prorated_orders'

  override up(): void {
    this.addSql(`
      alter table subscriptions
        add column queued_lines jsonb not null default '[]',
        add column paused_period jsonb null,
        add column prorates_churn boolean not null default false;
      comment on column subscriptions.queued_lines is 'What the next invoice has beside its own lines. Amounts are decimal strings, those of credits negative.';
      comment on column subscriptions.paused_period is 'How long a period was paused in all, in milliseconds.';
      comment on column subscriptions.prorates_churn is 'True if the unused part of the last period is credited when its cancellation ends service.';
    `)
    this.addSql(`
      alter table subscription_cancellations
        add column prorated boolean not null default false,
        add column credit_lines jsonb not null default '[]',
        add column currency varchar(3) null,
        add column prorated_invoice_id varchar(50) null;
      comment on column subscription_cancellations.prorated is 'True if the unused part of the last period is credited when service ends.';
      comment on column subscription_cancellations.credit_lines is 'The credit of a completed one. Amounts are decimal strings, and negative.';
      comment on column subscription_cancellations.prorated_invoice_id is 'The invoice of the period that is credited.';
    `)
  }
}
