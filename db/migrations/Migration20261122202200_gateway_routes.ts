import { Migration } from '@mikro-orm/migrations'

/** Daily limits of gateway accounts, other accounts that hold a card, and which account a request was sent to. */
export class Migration20261122202200_gateway_routes extends Migration {
  override name = 'Migration20261122202200_gateway_routes'

  override up(): void {
    this.addSql(`
      alter table gateway_accounts add column daily_limits jsonb not null default '[]';
      comment on column gateway_accounts.daily_limits is 'What the account charges at most in a day (UTC), for each currency.';
      alter table payment_instruments add column backup_references jsonb not null default '[]';
      comment on column payment_instruments.backup_references is 'References of the card at other accounts, by their priority; never public.';
      create table gateway_routes (
        organization_id varchar(50) not null,
        request_id varchar(150) not null,
        reference varchar(255) null,
        gateway_account_id varchar(50) null,
        counted_day date null,
        has_ended boolean not null default false,
        created_time timestamptz(3) not null default now(),
        primary key (organization_id, request_id)
      );
      create index gateway_routes_created_index on gateway_routes (created_time);
      create table gateway_account_days (
        organization_id varchar(50) not null,
        gateway_account_id varchar(50) not null,
        currency varchar(3) not null,
        day date not null,
        charges int not null,
        amount numeric(18,6) not null,
        primary key (organization_id, gateway_account_id, currency, day)
      );
      comment on table gateway_routes is 'The account that a request was last sent to.';
      comment on column gateway_routes.reference is 'null: every account has refused it.';
      comment on column gateway_routes.counted_day is 'The day whose limit it counts for; null: for none.';
      comment on table gateway_account_days is 'What an account with a daily limit has charged in a day.';
    `)
  }
}
