import { Migration } from '@mikro-orm/migrations'

export class Migration20261122161200_custom_field_definitions extends Migration {
  override name = 'Migration20261122161200_custom_field_definitions'

  override up(): void {
    this.addSql(`
      create table custom_fields (
        organization_id varchar(50) not null,
        resource varchar(30) not null,
        id varchar(60) not null,
        "type" varchar(20) not null,
        description text null,
        is_enabled bool not null default true,
        additional_schema jsonb null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, resource, id)
      );
      comment on table custom_fields is 'The definition of a member of customFields, against which its values are validated.';
      comment on column custom_fields.resource is 'As in paths: customers.';
      comment on column custom_fields.id is 'Its name in customFields.';
    `)
  }

  override down(): void {
    this.addSql('drop table custom_fields')
  }
}
