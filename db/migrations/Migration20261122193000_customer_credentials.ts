import { Migration } from '@mikro-orm/migrations'

export class Migration20261122193000_customer_credentials extends Migration {
  override name = 'Migration20261122193000_customer_credentials'

  override up(): void {
    this.addSql(`
      create table authentication_options (
        organization_id varchar(50) not null,
        password_pattern text null,
        credential_ttl int not null,
        auth_token_ttl int not null,
        reset_token_ttl int not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id)
      );
      comment on table authentication_options is 'How an organization''s customers sign in. An organization without a row has the defaults.';
      comment on column authentication_options.password_pattern is 'What every new password must match; null: anything.';
      comment on column authentication_options.credential_ttl is 'Default lifetime of credentials, in seconds; 0: they do not expire.';
      comment on column authentication_options.auth_token_ttl is 'Lifetime of authentication tokens, in seconds.';
      comment on column authentication_options.reset_token_ttl is 'Lifetime of password tokens, in seconds.';
    `)
    this.addSql(`
      create table customer_credentials (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        customer_id varchar(50) not null,
        username varchar(255) not null,
        username_digest varchar(64) not null,
        password_hash text not null,
        expired_time timestamptz(3) null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      alter table customer_credentials add constraint customer_credentials_username_unique unique (organization_id, username_digest);
      create index customer_credentials_newest_index on customer_credentials (organization_id, created_time desc, id);
      create index customer_credentials_customer_index on customer_credentials (organization_id, customer_id);
      comment on table customer_credentials is 'The username and password with which a customer signs in.';
      comment on column customer_credentials.username is 'As it was given.';
      comment on column customer_credentials.username_digest is 'Digest for looking up a username in any case.';
      comment on column customer_credentials.password_hash is 'One-way hash with its parameters; the password itself is nowhere.';
    `)
    this.addSql(`
      create table password_tokens (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        credential_id varchar(50) not null,
        customer_id varchar(50) not null,
        username varchar(255) not null,
        token_hash varchar(64) not null,
        token_cipher text not null,
        expired_time timestamptz(3) not null,
        revision int not null default 1,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      alter table password_tokens add constraint password_tokens_token_hash_unique unique (token_hash);
      create index password_tokens_newest_index on password_tokens (organization_id, created_time desc, id);
      create index password_tokens_credential_index on password_tokens (organization_id, credential_id);
      create index password_tokens_customer_index on password_tokens (organization_id, customer_id);
      comment on table password_tokens is 'Shows a merchant that a customer who forgot the password owns the mailbox that the token was sent to.';
      comment on column password_tokens.username is 'That of the credential when the token was created.';
      comment on column password_tokens.token_hash is 'Keyed hash of the value, for looking up a presented token.';
      comment on column password_tokens.token_cipher is 'The value, encrypted by the vault.';
    `)
    this.addSql(`
      create table sign_in_failures (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        subject varchar(64) not null,
        failed_time timestamptz(3) not null,
        primary key (organization_id, id)
      );
      create index sign_in_failures_subject_index on sign_in_failures (organization_id, subject, failed_time);
      create index sign_in_failures_failed_index on sign_in_failures (failed_time);
      comment on table sign_in_failures is 'An attempt to sign in that failed, or that is in progress.';
      comment on column sign_in_failures.subject is 'Digest of the username, known or not, and the caller''s address.';
    `)
    this.addSql(`
      alter table authentication_tokens
        add column credential_id varchar(50) null,
        add column username varchar(255) null,
        add column token_cipher text null,
        add column revision int not null default 1,
        add column updated_time timestamptz(3) null;
      update authentication_tokens set updated_time = created_time;
      alter table authentication_tokens alter column updated_time set not null;
      comment on table authentication_tokens is 'Lets a browser obtain a customer token. A merchant, or a customer''s password, creates it.';
      comment on column authentication_tokens.credential_id is 'The credential with which the customer signed in; null if the merchant asked for the token.';
      comment on column authentication_tokens.username is 'Its username then.';
      comment on column authentication_tokens.token_cipher is 'The value, encrypted by the vault; null in rows of the first release.';
    `)
    this.addSql(`
      alter table idempotency_records alter column operation type varchar(150);
      comment on column idempotency_records.operation is 'Unless the key is a secret one, after its form, and the customer.';
    `)
  }

  override down(): void {
    for (const table of [
      'authentication_options',
      'customer_credentials',
      'password_tokens',
      'sign_in_failures',
    ]) {
      this.addSql(`drop table if exists ${table}`)
    }
    this.addSql(`
      alter table authentication_tokens
        drop column credential_id,
        drop column username,
        drop column token_cipher,
        drop column revision,
        drop column updated_time;
      delete from idempotency_records where length(operation) > 100;
      alter table idempotency_records alter column operation type varchar(100);
    `)
  }
}
