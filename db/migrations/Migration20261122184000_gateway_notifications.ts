import { Migration } from '@mikro-orm/migrations'

export class Migration20261122184000_gateway_notifications extends Migration {
  override name = 'Migration20261122184000_gateway_notifications'

  override up(): void {
    this.addSql(`
      create table gateway_notifications (
        organization_id varchar(50) not null,
        gateway_account_id varchar(50) not null,
        id varchar(255) not null,
        type varchar(100) not null,
        record varchar(255) not null,
        object varchar(255) not null,
        occurred_time timestamptz(3) not null,
        rank smallint not null,
        content jsonb not null,
        status varchar(12) not null,
        failures int not null default 0,
        failure varchar(500) null,
        due_time timestamptz(3) null,
        processed_time timestamptz(3) null,
        received_time timestamptz(3) not null,
        primary key (organization_id, gateway_account_id, id)
      );
      create index gateway_notifications_due_index on gateway_notifications (organization_id, due_time) where status = 'received';
      create index gateway_notifications_record_index on gateway_notifications (organization_id, gateway_account_id, record);
      create index gateway_notifications_received_index on gateway_notifications (received_time);
      comment on table gateway_notifications is 'What payment providers have told of their accounts, each once, kept for 30 days.';
      comment on column gateway_notifications.id is 'The id of the provider, under which it is not stored again.';
      comment on column gateway_notifications.content is 'What it says, without anything personal.';
      comment on column gateway_notifications.due_time is 'When it is processed; null: it was.';
      alter table payment_instruments add column expiration_reminder_number int not null default 0;
      comment on column payment_instruments.expiration_reminder_number is 'How often it was told that the card is about to expire.';
    `)
  }
}
