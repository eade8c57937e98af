import { Migration } from '@mikro-orm/migrations'

export class Migration20261122183300_shipping_rates extends Migration {
  override up(): void {
    this.addSql(`
      create table shipping_rates (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        "name" varchar(255) not null,
        description text null,
        price numeric(18, 6) not null,
        currency varchar(3) not null,
        status varchar(20) not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      comment on table shipping_rates is 'What a merchant charges for shipping.';
      comment on column shipping_rates.price is 'A decimal string.';
      create index shipping_rates_newest_index on shipping_rates (organization_id, created_time desc, id);
      create index shipping_rates_by_id_index on shipping_rates (organization_id, lower(id));
      create index shipping_rates_search_index on shipping_rates using gin (organization_id, (lower(id || E'\\n' || coalesce("name", '') || E'\\n' || coalesce(description, '') || E'\\n' || coalesce(currency, '') || E'\\n' || coalesce(status, ''))) gin_trgm_ops);
    `)
  }

  override down(): void {
    this.addSql('drop table shipping_rates')
  }
}
