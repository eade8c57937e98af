import { Migration } from '@mikro-orm/migrations'

export class Migration20261122154000_gateway_accounts extends Migration {
  override name = 'Migration20261122154000_gateway_accounts'

  override up(): void {
    this.addSql(`
      create table gateway_accounts (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        gateway_name varchar(30) not null,
        status varchar(10) not null,
        priority int not null,
        accepted_currencies jsonb not null,
        payment_card_schemes jsonb not null,
        takes_card_numbers boolean not null,
        descriptor varchar(22) null,
        credentials_cipher text null,
        custom_fields jsonb not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index gateway_accounts_newest_index on gateway_accounts (organization_id, created_time desc, id);
      create index gateway_accounts_by_id_index on gateway_accounts (organization_id, lower(id));
      create index gateway_accounts_search_index on gateway_accounts using gin (organization_id, (lower("id" || E'\\n' || coalesce("gateway_name", '') || E'\\n' || coalesce("descriptor", ''))) gin_trgm_ops);
      comment on table gateway_accounts is 'Accounts of an organization with payment providers, which its instruments are charged through.';
      comment on column gateway_accounts.priority is 'Accounts are tried in the order of this number.';
      comment on column gateway_accounts.credentials_cipher is 'What the provider asks for, encrypted by the vault.';
    `)
  }
}
