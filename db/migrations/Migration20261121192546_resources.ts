import { Migration } from '@mikro-orm/migrations'

export class Migration20261121192546_resources extends Migration {
  override name = 'Migration20261121192546_resources'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "products" ("organization_id" varchar(50) not null, "id" varchar(50) not null, "name" varchar(255) not null, "unit_label" varchar(255) null, "description" text null, "custom_fields" jsonb null, "revision" int not null default 1, "created_time" timestamptz(3) not null, "updated_time" timestamptz(3) not null, primary key ("organization_id", "id"));`,
    )
    this.addSql(
      `create index "products_newest_index" on "products" ("organization_id", "created_time" desc, "id");`,
    )
    this.addSql(
      `create index "products_search_index" on "products" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("name", '') || E'\\n' || coalesce("unit_label", '') || E'\\n' || coalesce("description", ''))) gin_trgm_ops);`,
    )

    this.addSql(`create index "customers_website_index" on "customers" ("organization_id", "website_id");`)

    this.addSql(`alter table "plans" add "product_id" varchar(50) null;`)
    this.addSql(`create index "plans_product_index" on "plans" ("organization_id", "product_id");`)

    this.addSql(
      `create index "subscriptions_website_index" on "subscriptions" ("organization_id", "website_id");`,
    )
    this.addSql(
      `create index "subscriptions_plans_index" on "subscriptions" using gin ("organization_id", (jsonb_path_query_array("items", '$[*]."plan"."id"')));`,
    )

    // What q searches has grown; the generator tells indexes apart by their names alone.
    this.addSql(`drop index "plans_search_index";`)
    this.addSql(
      `create index "plans_search_index" on "plans" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("name", '') || E'\\n' || coalesce("currency", '') || E'\\n' || coalesce("product_id", ''))) gin_trgm_ops);`,
    )
  }

  override down(): void | Promise<void> {
    // What q searches had grown; the generator tells indexes apart by their names alone.
    this.addSql(`drop index "plans_search_index";`)
    this.addSql(
      `create index "plans_search_index" on "plans" using gin ("organization_id", (lower("id" || E'\\n' || coalesce("name", '') || E'\\n' || coalesce("currency", ''))) gin_trgm_ops);`,
    )

    this.addSql(`drop table if exists "products" cascade;`)

    this.addSql(`drop index "customers_website_index";`)

    this.addSql(`drop index "plans_product_index";`)
    this.addSql(`alter table "plans" drop column "product_id";`)

    this.addSql(`drop index "subscriptions_website_index";`)
    this.addSql(`drop index "subscriptions_plans_index";`)
  }
}
