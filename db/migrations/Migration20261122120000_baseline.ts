import { Migration } from '@mikro-orm/migrations'

export class Migration20261122120000_baseline extends Migration {
  override name = 'Migration20261122120000_baseline'

  override up(): void {
    this.addSql('create extension if not exists pg_trgm')
    this.addSql('create extension if not exists btree_gin')
    this.addSql(`
      create table api_keys (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        description text not null,
        "type" varchar(20) not null,
        acl jsonb null,
        allowed_ips jsonb null,
        api_user varchar(255) not null,
        key_hash varchar(64) not null,
        key_cipher text not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      alter table api_keys add constraint api_keys_key_hash_unique unique (key_hash);
      create index api_keys_newest_index on api_keys (organization_id, created_time desc, id);
      create index api_keys_by_id_index on api_keys (organization_id, lower(id));
      create index api_keys_search_index on api_keys using gin (organization_id, (lower(id || E'\\n' || coalesce(description, '') || E'\\n' || coalesce(api_user, ''))) gin_trgm_ops);
      comment on column api_keys.key_hash is 'Keyed hash of the value, for looking up a presented key.';
      comment on column api_keys.key_cipher is 'The value, encrypted by the vault.';
    `)
    this.addSql(`
      create table authentication_tokens (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        customer_id varchar(50) not null,
        token_hash varchar(64) not null,
        expired_time timestamptz(3) not null,
        consumed_time timestamptz(3) null,
        created_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      alter table authentication_tokens add constraint authentication_tokens_token_hash_unique unique (token_hash);
      create index authentication_tokens_customer_index on authentication_tokens (organization_id, customer_id);
      comment on table authentication_tokens is 'Lets a browser obtain a customer token; a merchant creates it for a customer.';
      comment on column authentication_tokens.token_hash is 'Keyed hash of the value, for looking up a presented token.';
      comment on column authentication_tokens.consumed_time is 'When it was consumed; from then on it can only be ended.';
    `)
    this.addSql(`
      create table customers (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        email varchar(255) null,
        first_name varchar(255) null,
        last_name varchar(255) null,
        website_id varchar(50) null,
        default_payment_instrument_id varchar(50) null,
        primary_address jsonb null,
        lead_source jsonb null,
        custom_fields jsonb null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index customers_newest_index on customers (organization_id, created_time desc, id);
      create index customers_by_id_index on customers (organization_id, lower(id));
      create index customers_search_index on customers using gin (organization_id, (lower(id || E'\\n' || coalesce(email, '') || E'\\n' || coalesce(first_name, '') || E'\\n' || coalesce(last_name, '') || E'\\n' || coalesce(website_id, ''))) gin_trgm_ops);
      create index customers_website_index on customers (organization_id, website_id);
      comment on column customers.default_payment_instrument_id is 'Charged when an order names no instrument.';
    `)
    this.addSql(`
      create table customer_tokens (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        customer_id varchar(50) not null,
        authentication_token_id varchar(50) not null,
        acl jsonb not null,
        expired_time timestamptz(3) not null,
        created_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index customer_tokens_customer_index on customer_tokens (organization_id, customer_id);
      create index customer_tokens_origin_index on customer_tokens (organization_id, authentication_token_id);
      comment on table customer_tokens is 'A customer''s JWT is valid only while this row exists.';
    `)
    this.addSql(`
      create table customer_token_keys (
        kid varchar(50) not null,
        key_cipher text not null,
        created_time timestamptz(3) not null,
        primary key (kid)
      );
      comment on table customer_token_keys is 'A key that signs customers'' JWTs. Only the service verifies them, so it has no public half.';
      comment on column customer_token_keys.key_cipher is '32 bytes in base64url, encrypted by the vault.';
    `)
    this.addSql(`
      create table deliveries (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        event_id varchar(50) not null,
        webhook_id varchar(50) not null,
        "position" bigserial not null,
        status varchar(10) not null,
        attempts int not null default 0,
        resends int not null default 0,
        resend_due boolean not null default false,
        lease_until timestamptz(3) null,
        lease_owner varchar(50) null,
        next_attempt_time timestamptz(3) null,
        ended_time timestamptz(3) null,
        quarantine_count int not null default 0,
        quarantine_reason varchar(500) null,
        quarantined_until timestamptz(3) null,
        created_time timestamptz(3) not null,
        primary key (organization_id, id)
      ) with (fillfactor = 50);
      create index deliveries_quarantined_index on deliveries (quarantined_until) where quarantined_until is not null;
      create index deliveries_due_index on deliveries (organization_id, webhook_id, resend_due desc, "position") where status = 'waiting' or resend_due;
      create index deliveries_retrying_index on deliveries (next_attempt_time) where status = 'retrying';
      create index deliveries_webhook_index on deliveries (organization_id, webhook_id, "position") where status = 'retrying';
      create index deliveries_event_index on deliveries (organization_id, event_id);
      comment on table deliveries is 'One event on its way to one webhook.';
      comment on column deliveries.position is 'First attempts start in this order, that of the events.';
      comment on column deliveries.resends is 'Attempts that a merchant requested besides the schedule.';
      comment on column deliveries.resend_due is 'A requested attempt has not been made yet.';
      comment on column deliveries.lease_until is 'A worker process has claimed the delivery until then.';
      comment on column deliveries.ended_time is 'When it reached a final status; real time.';
    `)
    this.addSql(`
      create table delivery_attempts (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        delivery_id varchar(50) not null,
        webhook_id varchar(50) not null default '',
        event_id varchar(50) not null default '',
        event_type varchar(60) not null default '',
        entity_id varchar(50) not null default '',
        attempt int not null,
        initiated_time timestamptz(3) not null,
        sent_time timestamptz(3) null,
        duration int not null,
        url text not null,
        "method" varchar(6) not null,
        request_headers jsonb not null,
        status int null,
        response_headers jsonb null,
        response text null,
        failure varchar(40) null,
        created_time timestamptz(3) not null default now(),
        updated_time timestamptz(3) not null default now(),
        revision int not null default 1,
        primary key (organization_id, id)
      );
      create index delivery_attempts_newest_index on delivery_attempts (organization_id, created_time desc, id);
      alter table delivery_attempts add constraint delivery_attempts_number_unique unique (organization_id, delivery_id, attempt);
      comment on table delivery_attempts is 'One HTTP request to a receiver, and its outcome.';
      comment on column delivery_attempts.duration is 'Milliseconds from the start of the attempt to its outcome.';
      comment on column delivery_attempts.failure is 'Reason code; null when the attempt succeeded.';
    `)
    this.addSql(`
      create table disputes (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        customer_id varchar(50) null,
        transaction_id varchar(50) not null,
        currency varchar(3) not null,
        amount numeric(18,6) not null,
        acquirer_reference_number varchar(255) null,
        case_id varchar(255) null,
        reason_code varchar(255) not null,
        reason_description varchar(512) null,
        category varchar(20) not null,
        "type" varchar(30) not null,
        status varchar(20) not null,
        posted_time timestamptz(3) not null,
        deadline_time timestamptz(3) null,
        raw_response text null,
        resolved_time timestamptz(3) null,
        source varchar(20) null,
        quarantine_count int not null default 0,
        quarantine_reason varchar(500) null,
        quarantined_until timestamptz(3) null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index disputes_quarantined_index on disputes (quarantined_until) where quarantined_until is not null;
      create index disputes_newest_index on disputes (organization_id, created_time desc, id);
      create index disputes_by_id_index on disputes (organization_id, lower(id));
      create index disputes_search_index on disputes using gin (organization_id, (lower(id || E'\\n' || coalesce(customer_id, '') || E'\\n' || coalesce(transaction_id, '') || E'\\n' || coalesce(currency, '') || E'\\n' || coalesce(acquirer_reference_number, '') || E'\\n' || coalesce(case_id, '') || E'\\n' || coalesce(reason_code, '') || E'\\n' || coalesce(category, '') || E'\\n' || coalesce("type", '') || E'\\n' || coalesce(status, ''))) gin_trgm_ops);
      create index disputes_transaction_index on disputes (organization_id, transaction_id);
      create index disputes_status_newest_index on disputes (organization_id, status, created_time desc, id);
      create index disputes_category_newest_index on disputes (organization_id, category, created_time desc, id);
      create index disputes_type_newest_index on disputes (organization_id, "type", created_time desc, id);
      create index disputes_by_customer_id_index on disputes (organization_id, lower(customer_id), created_time desc, id);
      create index disputes_by_transaction_id_index on disputes (organization_id, lower(transaction_id), created_time desc, id);
      create index disputes_by_reason_code_index on disputes (organization_id, lower(reason_code), created_time desc, id);
      create index disputes_by_case_id_index on disputes (organization_id, lower(case_id), created_time desc, id) where case_id is not null;
      create index disputes_by_acquirer_reference_number_index on disputes (organization_id, lower(acquirer_reference_number), created_time desc, id) where acquirer_reference_number is not null;
      create index disputes_amount_index on disputes (organization_id, amount);
      create index disputes_posted_index on disputes (organization_id, posted_time);
      create index disputes_by_deadline_index on disputes (organization_id, deadline_time) where deadline_time is not null;
      create index disputes_deadline_index on disputes (deadline_time) where status = 'response-needed' and deadline_time is not null;
      comment on table disputes is 'A customer''s objection to a transaction at the bank.';
      comment on column disputes.amount is 'A decimal string.';
    `)
    this.addSql(`
      create table events (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        "type" varchar(60) not null,
        website_id varchar(50) null,
        entity_id varchar(50) not null,
        event_time timestamptz(3) not null,
        payload text not null,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null default now(),
        revision int not null default 1,
        "position" bigint not null,
        primary key (organization_id, id)
      );
      create index events_newest_index on events (organization_id, created_time desc, id);
      create index events_position_index on events (organization_id, "position");
      comment on table events is 'An event, written in the transaction that caused it.';
      comment on column events.entity_id is 'The first id of the payload.';
      comment on column events.event_time is 'The record''s own clock.';
      comment on column events.payload is 'The exact text that is hashed, signed and sent on every attempt.';
      comment on column events.position is 'Position among all events: the id of the writing transaction in the upper 43 bits, then the ordinal within it. In this order no event comes before one that a list has returned (COMMITTED_EVENTS).';
    `)
    this.addSql(`
      create table fast_forwards (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        subscription_id varchar(50) not null,
        to_time timestamptz(3) not null,
        status varchar(20) not null default 'running',
        detail varchar(255) null,
        progress_time timestamptz(3) not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index fast_forwards_subscription_index on fast_forwards (organization_id, subscription_id);
      comment on column fast_forwards.progress_time is 'When its order was last advanced during the fast-forward; real time.';
    `)
    this.addSql(`
      create table idempotency_records (
        organization_id varchar(50) not null,
        operation varchar(100) not null,
        "key" varchar(255) not null,
        request_hash varchar(64) not null,
        response_cipher text not null,
        created_time timestamptz(3) not null,
        primary key (organization_id, operation, "key")
      );
      create index idempotency_records_created_index on idempotency_records (created_time);
      comment on table idempotency_records is 'The response to the first request with an Idempotency-Key.';
      comment on column idempotency_records.request_hash is 'Digest of the path and the body of the first request.';
      comment on column idempotency_records.response_cipher is 'The stored response, encrypted by the vault.';
    `)
    this.addSql(`
      create table installation (
        "name" varchar(50) not null,
        "value" text not null,
        primary key ("name")
      );
      comment on table installation is 'Facts that an installation creates once: its id and its encrypted lookup key.';
    `)
    this.addSql(`
      create table invoices (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        subscription_id varchar(50) not null,
        customer_id varchar(50) not null,
        website_id varchar(50) not null,
        sequence int not null,
        "type" varchar(20) not null,
        status varchar(20) not null,
        currency varchar(3) not null,
        lines jsonb not null,
        amount numeric(18,6) not null,
        amount_due numeric(18,6) not null,
        period_number int null,
        period_start timestamptz(3) null,
        period_end timestamptz(3) null,
        issued_time timestamptz(3) null,
        due_time timestamptz(3) null,
        delinquency_time timestamptz(3) null,
        paid_time timestamptz(3) null,
        voided_time timestamptz(3) null,
        charge_time timestamptz(3) null,
        autopay_retry_number int not null default 0,
        attempts int not null default 0,
        declined_time timestamptz(3) null,
        charge jsonb null,
        amount_paid numeric(18,6) not null default '0',
        amount_refunded numeric(18,6) not null default '0',
        is_disputed boolean not null default false,
        po_number varchar(255) null,
        notes text null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index invoices_newest_index on invoices (organization_id, created_time desc, id);
      create index invoices_by_id_index on invoices (organization_id, lower(id));
      create index invoices_search_index on invoices using gin (organization_id, (lower(id || E'\\n' || coalesce(subscription_id, '') || E'\\n' || coalesce(customer_id, '') || E'\\n' || coalesce(website_id, '') || E'\\n' || coalesce(currency, '') || E'\\n' || coalesce(status, '') || E'\\n' || coalesce("type", '') || E'\\n' || coalesce(po_number, '') || E'\\n' || coalesce(notes, ''))) gin_trgm_ops);
      alter table invoices add constraint invoices_sequence_unique unique (organization_id, subscription_id, sequence);
      alter table invoices add constraint invoices_live_period_exclude EXCLUDE USING btree (organization_id WITH =, subscription_id WITH =, period_number WITH =) WHERE (((status)::text <> ALL ((ARRAY['voided'::character varying, 'abandoned'::character varying])::text[]))) DEFERRABLE INITIALLY DEFERRED;
      comment on column invoices.lines is 'Their amounts are decimal strings.';
      comment on column invoices.amount is 'A decimal string, as amountDue.';
      comment on column invoices.charge_time is 'When an automatic charge is due.';
      comment on column invoices.attempts is 'Automatic charges made; the next one has this number plus one.';
      comment on column invoices.declined_time is 'When the first charge was declined.';
      comment on column invoices.amount_paid is 'Decimal strings: payments, and what was refunded of them.';
    `)
    this.addSql(`
      create table organizations (
        id varchar(50) not null,
        "name" varchar(255) not null,
        settings jsonb not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (id)
      );
    `)
    this.addSql(`
      create table payment_instruments (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        customer_id varchar(50) not null,
        "method" varchar(20) not null,
        bin varchar(6) not null,
        "last4" varchar(4) not null,
        brand varchar(20) not null,
        exp_month smallint not null,
        exp_year smallint not null,
        status varchar(20) not null,
        billing_address jsonb null,
        risk_metadata jsonb null,
        gateway varchar(50) not null,
        gateway_reference varchar(255) not null,
        card_fingerprint varchar(64) not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index payment_instruments_newest_index on payment_instruments (organization_id, created_time desc, id);
      create index payment_instruments_by_id_index on payment_instruments (organization_id, lower(id));
      create index payment_instruments_search_index on payment_instruments using gin (organization_id, (lower(id || E'\\n' || coalesce(customer_id, '') || E'\\n' || coalesce("method", '') || E'\\n' || coalesce(bin, '') || E'\\n' || coalesce("last4", '') || E'\\n' || coalesce(brand, '') || E'\\n' || coalesce(status, ''))) gin_trgm_ops);
      create index payment_instruments_customer_index on payment_instruments (organization_id, customer_id);
      comment on column payment_instruments.risk_metadata is 'Captured with its payment token; returned with orders that name no instrument.';
      comment on column payment_instruments.gateway_reference is 'The gateway''s reference of the card; never public.';
      comment on column payment_instruments.card_fingerprint is 'Keyed hash of the number: equal for equal cards, meaningless without the key.';
    `)
    this.addSql(`
      create table payment_tokens (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        "method" varchar(20) not null,
        bin varchar(6) null,
        "last4" varchar(4) null,
        brand varchar(20) null,
        exp_month smallint not null,
        exp_year smallint not null,
        card_cipher text null,
        card_fingerprint varchar(64) null,
        billing_address jsonb null,
        billing_address_hash varchar(64) null,
        email varchar(255) null,
        ip_address varchar(45) null,
        device varchar(255) null,
        risk_metadata jsonb null,
        lead_source jsonb null,
        is_used boolean not null default false,
        usage_time timestamptz(3) null,
        expiration_time timestamptz(3) not null,
        quarantine_count int not null default 0,
        quarantine_reason varchar(500) null,
        quarantined_until timestamptz(3) null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index payment_tokens_quarantined_index on payment_tokens (quarantined_until) where quarantined_until is not null;
      create index payment_tokens_newest_index on payment_tokens (organization_id, created_time desc, id);
      create index payment_tokens_card_held_index on payment_tokens (expiration_time) where card_cipher is not null;
      create index payment_tokens_card_fingerprint_index on payment_tokens (organization_id, card_fingerprint, created_time) where card_fingerprint is not null;
      create index payment_tokens_ip_address_index on payment_tokens (organization_id, ip_address, created_time) where ip_address is not null;
      create index payment_tokens_device_index on payment_tokens (organization_id, device, created_time) where device is not null;
      create index payment_tokens_email_index on payment_tokens (organization_id, email, created_time) where email is not null;
      create index payment_tokens_billing_address_hash_index on payment_tokens (organization_id, billing_address_hash, created_time) where billing_address_hash is not null;
      comment on column payment_tokens.card_cipher is 'Number and security code, encrypted by the vault; null after use or expiry.';
      comment on column payment_tokens.card_fingerprint is 'Keyed hash of the number: equal for equal cards, meaningless without the key.';
    `)
    this.addSql(`
      create table plans (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        "name" varchar(255) not null,
        product_id varchar(50) null,
        currency varchar(3) not null,
        pricing jsonb not null,
        recurring_interval jsonb null,
        trial jsonb null,
        is_trial_only boolean not null default false,
        setup jsonb null,
        invoice_time_shift jsonb null,
        is_active boolean not null default true,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index plans_newest_index on plans (organization_id, created_time desc, id);
      create index plans_by_id_index on plans (organization_id, lower(id));
      create index plans_search_index on plans using gin (organization_id, (lower(id || E'\\n' || coalesce("name", '') || E'\\n' || coalesce(currency, '') || E'\\n' || coalesce(product_id, ''))) gin_trgm_ops);
      create index plans_product_index on plans (organization_id, product_id);
      comment on column plans.pricing is 'Amounts are decimal strings: the API uses JSON numbers, the code never floating point.';
    `)
    this.addSql(`
      create table products (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        "name" varchar(255) not null,
        unit_label varchar(255) null,
        description text null,
        custom_fields jsonb null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index products_newest_index on products (organization_id, created_time desc, id);
      create index products_by_id_index on products (organization_id, lower(id));
      create index products_search_index on products using gin (organization_id, (lower(id || E'\\n' || coalesce("name", '') || E'\\n' || coalesce(unit_label, '') || E'\\n' || coalesce(description, ''))) gin_trgm_ops);
    `)
    this.addSql(`
      create table rate_limits (
        "key" varchar(255) not null,
        points int not null default 0,
        "expire" bigint null,
        primary key ("key")
      );
      comment on table rate_limits is 'Requests of an organization in the current window; the rate limiter''s library writes it.';
      comment on column rate_limits.expire is 'Milliseconds since the epoch.';
    `)
    this.addSql(`
      create table service_credentials (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        host varchar(255) not null,
        auth_cipher text not null,
        status varchar(10) not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index service_credentials_newest_index on service_credentials (organization_id, created_time desc, id);
      create index service_credentials_by_id_index on service_credentials (organization_id, lower(id));
      create index service_credentials_search_index on service_credentials using gin (organization_id, (lower(id || E'\\n' || coalesce(host, ''))) gin_trgm_ops);
      comment on column service_credentials.host is 'The only host that receives it, without port, as it was given.';
      comment on column service_credentials.auth_cipher is 'A WebhookAuth, encrypted by the vault.';
    `)
    this.addSql(`
      create table signing_keys (
        kid varchar(50) not null,
        public_jwk jsonb not null,
        private_cipher text not null,
        created_time timestamptz(3) not null,
        signs_from timestamptz(3) not null,
        primary key (kid)
      );
      comment on column signing_keys.private_cipher is 'Private key as JWK, encrypted by the vault.';
      comment on column signing_keys.created_time is 'It is published from then on.';
      comment on column signing_keys.signs_from is 'It signs from then on, until a later key does.';
    `)
    this.addSql(`
      create table subscriptions (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        customer_id varchar(50) not null,
        website_id varchar(50) not null,
        items jsonb not null,
        status varchar(20) not null,
        currency varchar(3) not null,
        start_time timestamptz(3) not null,
        abandon_time timestamptz(3) null,
        activation_time timestamptz(3) null,
        void_time timestamptz(3) null,
        trial jsonb null,
        is_trial_only boolean not null default false,
        recurring_interval jsonb null,
        invoice_time_shift jsonb null,
        delinquency_period varchar(255) null,
        shipping jsonb null,
        in_trial boolean not null default false,
        is_trial_converted boolean not null default false,
        rebill_number int null,
        renewal_time timestamptz(3) null,
        churn_time timestamptz(3) null,
        canceled_by varchar(20) null,
        cancel_category varchar(30) null,
        cancel_description varchar(255) null,
        billing_status varchar(20) not null default 'draft',
        initial_invoice_id varchar(50) null,
        recent_invoice_id varchar(50) null,
        anchor_time timestamptz(3) null,
        anchor_number int not null default 1,
        period_start timestamptz(3) null,
        period_end timestamptz(3) null,
        invoiced_through int not null default 0,
        next_invoice int not null default 1,
        not_before timestamptz(3) null,
        autopay boolean not null default true,
        payment_instrument_id varchar(50) null,
        late_charge_time timestamptz(3) null,
        delivery_address jsonb null,
        billing_address jsonb null,
        risk_metadata jsonb null,
        notes text null,
        po_number varchar(255) null,
        custom_fields jsonb null,
        next_deadline timestamptz(3) null,
        next_due_kind varchar(20) null,
        advanced_to timestamptz(3) null,
        clock_offset bigint not null default '0',
        moving_to timestamptz(3) null,
        quarantine_count int not null default 0,
        quarantine_reason varchar(500) null,
        quarantined_until timestamptz(3) null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index subscriptions_quarantined_index on subscriptions (quarantined_until) where quarantined_until is not null;
      create index subscriptions_newest_index on subscriptions (organization_id, created_time desc, id);
      create index subscriptions_by_id_index on subscriptions (organization_id, lower(id));
      create index subscriptions_search_index on subscriptions using gin (organization_id, (lower(id || E'\\n' || coalesce(customer_id, '') || E'\\n' || coalesce(website_id, '') || E'\\n' || coalesce(status, '') || E'\\n' || coalesce(currency, '') || E'\\n' || coalesce(po_number, '') || E'\\n' || coalesce(notes, ''))) gin_trgm_ops);
      create index subscriptions_customer_index on subscriptions (organization_id, customer_id);
      create index subscriptions_next_deadline_index on subscriptions (next_deadline) where next_deadline is not null;
      create index subscriptions_due_index on subscriptions (organization_id, next_deadline) where next_deadline is not null;
      create index subscriptions_moved_clock_index on subscriptions (next_deadline) where clock_offset > 0;
      comment on table subscriptions is 'An order: a customer''s subscription to the plans of its items.';
      comment on column subscriptions.trial is 'Set in place of the plans'' trial; null: not set.';
      comment on column subscriptions.shipping is 'The amount is a decimal string.';
      comment on column subscriptions.anchor_time is 'Where period anchorNumber begins; every later boundary counts from it.';
      comment on column subscriptions.invoiced_through is 'Highest period with an issued invoice.';
      comment on column subscriptions.not_before is 'Nothing is due before this; null: its creation.';
      comment on column subscriptions.payment_instrument_id is 'null: the customer''s default instrument.';
      comment on column subscriptions.late_charge_time is 'When a charge was last made more than an hour late.';
      comment on column subscriptions.next_deadline is 'When the subscription workflow has to advance it next, on the order''s own clock; null: never.';
      comment on column subscriptions.next_due_kind is 'What is due then; null: unknown, or nothing.';
      comment on column subscriptions.advanced_to is 'The instant on its own clock through which it was advanced; advancing to an earlier one has no effect.';
      comment on column subscriptions.clock_offset is 'Milliseconds by which the order''s own clock is ahead of real time (sandbox).';
      comment on column subscriptions.moving_to is 'The target of a fast-forward; null: the clock is at rest.';
    `)
    this.addSql(`
      create table subscription_cancellations (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        subscription_id varchar(50) not null,
        churn_time timestamptz(3) not null,
        canceled_by varchar(20) not null,
        reason varchar(30) null,
        description varchar(255) null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index subscription_cancellations_newest_index on subscription_cancellations (organization_id, created_time desc, id);
      create index subscription_cancellations_by_id_index on subscription_cancellations (organization_id, lower(id));
      create index subscription_cancellations_search_index on subscription_cancellations using gin (organization_id, (lower(id || E'\\n' || coalesce(subscription_id, '') || E'\\n' || coalesce(canceled_by, '') || E'\\n' || coalesce(reason, '') || E'\\n' || coalesce(description, ''))) gin_trgm_ops);
    `)
    this.addSql(`
      create table subscription_pauses (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        subscription_id varchar(50) not null,
        status varchar(20) not null,
        effective_time timestamptz(3) not null,
        end_time timestamptz(3) null,
        description varchar(255) null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index subscription_pauses_newest_index on subscription_pauses (organization_id, created_time desc, id);
      create index subscription_pauses_by_id_index on subscription_pauses (organization_id, lower(id));
      create index subscription_pauses_search_index on subscription_pauses using gin (organization_id, (lower(id || E'\\n' || coalesce(subscription_id, '') || E'\\n' || coalesce(status, '') || E'\\n' || coalesce(description, ''))) gin_trgm_ops);
      create index subscription_pauses_order_index on subscription_pauses (organization_id, subscription_id);
      comment on table subscription_pauses is 'A time without service and without invoices.';
    `)
    this.addSql(`
      create table subscription_reactivations (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        subscription_id varchar(50) not null,
        effective_time timestamptz(3) not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index subscription_reactivations_newest_index on subscription_reactivations (organization_id, created_time desc, id);
      create index subscription_reactivations_by_id_index on subscription_reactivations (organization_id, lower(id));
      create index subscription_reactivations_search_index on subscription_reactivations using gin (organization_id, (lower(id || E'\\n' || coalesce(subscription_id, ''))) gin_trgm_ops);
    `)
    this.addSql(`
      create table timeline_entries (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        subscription_id varchar(50) not null,
        "type" varchar(50) not null,
        occurred_time timestamptz(3) not null,
        cause varchar(20) not null,
        message text not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index timeline_entries_order_index on timeline_entries (organization_id, subscription_id, occurred_time);
    `)
    this.addSql(`
      create table transactions (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        "type" varchar(20) not null,
        customer_id varchar(50) not null,
        currency varchar(3) not null,
        amount numeric(18,6) not null,
        payment_instruction jsonb not null,
        parent_transaction_id varchar(50) null,
        invoice_ids jsonb not null default '[]',
        payments jsonb null,
        shares jsonb not null default '{}',
        subscription_id varchar(50) null,
        charged_time timestamptz(3) null,
        status varchar(20) not null default 'completed',
        result varchar(20) null,
        gateway varchar(50) null,
        request_id varchar(150) null,
        raw_response text null,
        gateway_reference varchar(255) null,
        card_fingerprint varchar(64) null,
        next_inquiry_time timestamptz(3) null,
        undelivered jsonb not null default '[]',
        refunds_begun int not null default 0,
        refunds_failed int not null default 0,
        owed_amount numeric(18,6) not null default '0',
        next_refund_time timestamptz(3) null,
        timeout_time timestamptz(3) null,
        quarantine_count int not null default 0,
        quarantine_reason varchar(500) null,
        quarantined_until timestamptz(3) null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index transactions_quarantined_index on transactions (quarantined_until) where quarantined_until is not null;
      create index transactions_newest_index on transactions (organization_id, created_time desc, id);
      create index transactions_by_id_index on transactions (organization_id, lower(id));
      create index transactions_search_index on transactions using gin (organization_id, (lower(id || E'\\n' || coalesce(customer_id, '') || E'\\n' || coalesce(currency, '') || E'\\n' || coalesce("type", '') || E'\\n' || coalesce(result, '') || E'\\n' || coalesce(status, '') || E'\\n' || coalesce(request_id, ''))) gin_trgm_ops);
      create index transactions_customer_index on transactions (organization_id, customer_id);
      create index transactions_inquiry_index on transactions (next_inquiry_time) where status = 'pending';
      create index transactions_refund_index on transactions (next_refund_time) where next_refund_time is not null;
      create index transactions_parent_index on transactions (organization_id, parent_transaction_id) where parent_transaction_id is not null;
      create index transactions_card_index on transactions (organization_id, card_fingerprint, created_time) where card_fingerprint is not null;
      create unique index transactions_request_index on transactions (organization_id, request_id) where request_id is not null;
      comment on table transactions is 'A sale or a refund, with its outcome.';
      comment on column transactions.amount is 'A decimal string.';
      comment on column transactions.invoice_ids is 'Invoices that a sale pays, in this order.';
      comment on column transactions.payments is 'What an approved sale paid: decimal strings by invoice id.';
      comment on column transactions.shares is 'The parts of a refund: decimal strings by invoice id. The remainder belongs to no invoice.';
      comment on column transactions.subscription_id is 'The order that makes this automatic charge and asks for its outcome; null: a caller''s, with its own workflow.';
      comment on column transactions.charged_time is 'When that order made it, on the order''s own clock.';
      comment on column transactions.result is 'null until the gateway was called, or could respond.';
      comment on column transactions.gateway is 'null for money that moves outside of this service.';
      comment on column transactions.request_id is 'The permanent name of the transaction at the gateway.';
      comment on column transactions.gateway_reference is 'The gateway''s reference of the card; never public.';
      comment on column transactions.card_fingerprint is 'Keyed hash of the card''s number; never public.';
      comment on column transactions.next_inquiry_time is 'When the gateway is asked for a pending one; null: not, or no more.';
      comment on column transactions.undelivered is 'These five columns are what the service owes of a sale: the invoices to refund in full, because they will not be delivered; the refunds begun for that; those of them in a row that moved no money; the debt that is not refunded yet, a decimal string; and when the next refund begins. null there: one is pending, nothing is owed, or an operator was alerted.';
      comment on column transactions.timeout_time is 'When its outcome had been unknown for a day.';
    `)
    this.addSql(`
      create table wake_ups (
        id bigserial primary key,
        workflow varchar(30) not null,
        organization_id varchar(50) not null,
        record_id varchar(50) not null,
        starts boolean not null default false,
        gateway_call boolean not null default false,
        due_by timestamptz(3) not null,
        attributes jsonb null,
        not_before timestamptz(3) null,
        refusals int not null default 0,
        last_error text null,
        lease_owner varchar(50) null,
        lease_until timestamptz(3) null
      );
      create index wake_ups_order_index on wake_ups (gateway_call desc, due_by, id);
      create index wake_ups_record_index on wake_ups (organization_id, record_id);
      comment on table wake_ups is 'Outbox row: a record''s workflow has to run. The transaction that changed the record writes it.';
      comment on column wake_ups.workflow is 'The workflow''s name in workflows/contract.ts.';
      comment on column wake_ups.starts is 'True for a new record: its execution starts, and sleeps until dueBy.';
      comment on column wake_ups.gateway_call is 'True if the payment gateway has to be called: such wake-ups are relayed first.';
      comment on column wake_ups.due_by is 'The record''s next deadline in real time; the nearer one is relayed first.';
      comment on column wake_ups.attributes is 'Search attributes by name, for the start of an execution.';
      comment on column wake_ups.not_before is 'Not relayed before this; set when Temporal refused it.';
      comment on column wake_ups.lease_owner is 'The relay that has claimed it, until leaseUntil.';
    `)
    this.addSql(`
      create table webhooks (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        url text not null,
        "method" varchar(6) not null,
        events_filter jsonb not null,
        status varchar(10) not null,
        website_id varchar(50) null,
        credential_hash varchar(50) null,
        headers jsonb not null default '[]',
        deactivation_reason text null,
        consecutive_failures int not null default 0,
        first_failure_time timestamptz(3) null,
        canceled_through bigint null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index webhooks_newest_index on webhooks (organization_id, created_time desc, id);
      create index webhooks_by_id_index on webhooks (organization_id, lower(id));
      create index webhooks_search_index on webhooks using gin (organization_id, (lower(id || E'\\n' || coalesce(url, '') || E'\\n' || coalesce(website_id, ''))) gin_trgm_ops);
      create index webhooks_failing_index on webhooks (first_failure_time) where first_failure_time is not null;
      comment on table webhooks is 'A merchant''s subscription to event types, with the receiver''s URL.';
      comment on column webhooks.consecutive_failures is 'Failed attempts since the last successful one, over all its deliveries.';
      comment on column webhooks.first_failure_time is 'The first of these failures; real time.';
      comment on column webhooks.canceled_through is 'Position of the last delivery that was waiting when it last became inactive: none up to it is sent.';
    `)
    this.addSql(`
      create table websites (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        "name" varchar(255) not null,
        url text null,
        service_phone varchar(255) null,
        service_email varchar(255) null,
        custom_fields jsonb null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index websites_newest_index on websites (organization_id, created_time desc, id);
      create index websites_by_id_index on websites (organization_id, lower(id));
      create index websites_search_index on websites using gin (organization_id, (lower(id || E'\\n' || coalesce("name", '') || E'\\n' || coalesce(url, '') || E'\\n' || coalesce(service_phone, '') || E'\\n' || coalesce(service_email, ''))) gin_trgm_ops);
      comment on table websites is 'A website of an organization; orders and webhooks refer to it.';
    `)
    this.addSql(`
      create table worker_processes (
        id varchar(50) not null,
        alive_until timestamptz(3) not null,
        in_flight jsonb not null,
        primary key (id)
      );
      comment on table worker_processes is 'A worker that is running, or stopped a moment ago.';
      comment on column worker_processes.id is 'Random for every start; the owner in its leases.';
      comment on column worker_processes.alive_until is 'Renewed while it runs; after this its leases are free.';
      comment on column worker_processes.in_flight is 'Attempts in flight by receiver, at the last renewal.';
    `)
    this.addSql(`
      create schema test_gateway;
      create table test_gateway.cards (
        organization_id varchar(50) not null,
        reference varchar(50) not null,
        behaviour varchar(20) not null,
        last4 varchar(4) not null,
        created_time timestamptz not null default now(),
        primary key (organization_id, reference)
      );
      create table test_gateway.ledger (
        position bigint generated always as identity,
        organization_id varchar(50) not null,
        request_id varchar(100) not null,
        kind varchar(10) not null,
        reference varchar(50),
        charge_request_id varchar(100),
        amount numeric(18,6) not null,
        currency varchar(3) not null,
        result varchar(20) not null,
        reason varchar(50),
        calls int not null default 1,
        created_time timestamptz not null default now(),
        primary key (organization_id, request_id)
      );
      create index ledger_reference_index on test_gateway.ledger (organization_id, reference);
      create index ledger_charge_index on test_gateway.ledger (organization_id, charge_request_id);
      comment on schema test_gateway is 'The books of the test gateway: they survive what its callers do not.';
    `)
  }

  override down(): void {
    for (const table of [
      'api_keys',
      'authentication_tokens',
      'customers',
      'customer_tokens',
      'customer_token_keys',
      'deliveries',
      'delivery_attempts',
      'disputes',
      'events',
      'fast_forwards',
      'idempotency_records',
      'installation',
      'invoices',
      'organizations',
      'payment_instruments',
      'payment_tokens',
      'plans',
      'products',
      'rate_limits',
      'service_credentials',
      'signing_keys',
      'subscriptions',
      'subscription_cancellations',
      'subscription_pauses',
      'subscription_reactivations',
      'timeline_entries',
      'transactions',
      'wake_ups',
      'webhooks',
      'websites',
      'worker_processes',
    ]) {
      this.addSql(`drop table if exists ${table}`)
    }
    this.addSql('drop schema if exists test_gateway cascade')
  }
}
