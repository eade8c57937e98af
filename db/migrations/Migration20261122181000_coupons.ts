import { Migration } from '@mikro-orm/migrations'

export class Migration20261122181000_coupons extends Migration {
  override name = 'Migration20261122181000_coupons'

  override up(): void {
    this.addSql(`
      create table coupons (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        discount jsonb not null,
        restrictions jsonb not null default '[]',
        description text not null,
        status varchar(20) not null,
        issued_time timestamptz(3) not null,
        expired_time timestamptz(3) null,
        redemptions_count int not null default 0,
        quarantine_count int not null default 0,
        quarantine_reason varchar(500) null,
        quarantined_until timestamptz(3) null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      comment on table coupons is 'A discount that customers can redeem.';
      comment on column coupons.discount is 'Its amounts are decimal strings.';
      comment on column coupons.redemptions_count is 'Redemptions so far, canceled ones included; counted under the row lock.';
      create index coupons_newest_index on coupons (organization_id, created_time desc, id);
      create index coupons_quarantined_index on coupons (quarantined_until) where quarantined_until is not null;
      create index coupons_issue_index on coupons (issued_time) where status = 'draft';
      create index coupons_expiry_index on coupons (expired_time) where status = 'issued' and expired_time is not null;
      create index coupons_by_id_index on coupons (organization_id, lower(id));
      create index coupons_search_index on coupons using gin (organization_id, (lower(id || E'\\n' || coalesce(description, ''))) gin_trgm_ops);
    `)
    this.addSql(`
      create table coupon_redemptions (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        coupon_id varchar(50) not null,
        customer_id varchar(50) not null,
        subscription_id varchar(50) null,
        additional_restrictions jsonb not null default '[]',
        canceled_time timestamptz(3) null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      comment on table coupon_redemptions is 'A coupon that a customer has redeemed, for one order or for all of them.';
      comment on column coupon_redemptions.subscription_id is 'The order whose coupon_ids name the coupon; null: it is for all orders of the customer.';
      create index coupon_redemptions_newest_index on coupon_redemptions (organization_id, created_time desc, id);
      create index coupon_redemptions_by_id_index on coupon_redemptions (organization_id, lower(id));
      create index coupon_redemptions_search_index on coupon_redemptions using gin (organization_id, (lower(id || E'\\n' || coalesce(coupon_id, '') || E'\\n' || coalesce(customer_id, ''))) gin_trgm_ops);
      create index coupon_redemptions_customer_index on coupon_redemptions (organization_id, customer_id);
      create index coupon_redemptions_subscription_index on coupon_redemptions (organization_id, subscription_id);
      create index coupon_redemptions_coupon_index on coupon_redemptions (organization_id, coupon_id, customer_id);
    `)
    this.addSql(`
      alter table subscriptions add column coupon_ids jsonb not null default '[]';
      comment on column subscriptions.coupon_ids is 'The coupons that are redeemed for it, in the order of application.';
      alter table invoices
        add column discounts jsonb not null default '[]',
        add column discount_amount numeric(18, 6) not null default '0';
      comment on column invoices.discounts is 'What coupons take off, in the order of application. Their amounts are decimal strings.';
      comment on column invoices.discount_amount is 'The sum of the discounts: a decimal string.';
    `)
  }

  override down(): void {
    this.addSql('alter table invoices drop column discounts, drop column discount_amount')
    this.addSql('alter table subscriptions drop column coupon_ids')
    this.addSql('drop table coupon_redemptions')
    this.addSql('drop table coupons')
  }
}
