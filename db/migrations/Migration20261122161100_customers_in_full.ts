import { Migration } from '@mikro-orm/migrations'

export class Migration20261122161100_customers_in_full extends Migration {
  override name = 'Migration20261122161100_customers_in_full'

  override up(): void {
    this.addSql(`
      alter table customers
        add column locale varchar(35) null,
        add column tax_numbers jsonb null,
        add column tags jsonb not null default '[]',
        add column original_lead_source jsonb null,
        add column lead_source_created_time timestamptz(3) null,
        add column lead_source_updated_time timestamptz(3) null;
      update customers
         set original_lead_source = lead_source, lead_source_created_time = created_time,
             lead_source_updated_time = updated_time
       where lead_source is not null;
      create index customers_tags_index on customers using gin (organization_id, tags jsonb_path_ops) where tags <> '[]';
      comment on column customers.original_lead_source is 'The first lead source that it ever had.';
      comment on column customers.lead_source_created_time is 'When it had its first lead source, and when it was last changed.';
    `)
    this.addSql('create index invoices_customer_index on invoices (organization_id, customer_id)')
    this.addSql(`
      create table tags (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        name varchar(255) not null,
        "type" varchar(20) not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index tags_newest_index on tags (organization_id, created_time desc, id);
      create index tags_by_id_index on tags (organization_id, lower(id));
      create index tags_search_index on tags using gin (organization_id, (lower(id || E'\\n' || coalesce(name, '') || E'\\n' || coalesce("type", ''))) gin_trgm_ops);
      create unique index tags_name_unique on tags (organization_id, "type", lower(name));
      comment on table tags is 'A label that a merchant gives to customers.';
    `)
  }

  override down(): void {
    this.addSql('drop table tags')
    this.addSql('drop index invoices_customer_index')
    this.addSql(`
      alter table customers drop column locale, drop column tax_numbers, drop column tags,
        drop column original_lead_source, drop column lead_source_created_time, drop column lead_source_updated_time
    `)
  }
}
