import { Migration } from '@mikro-orm/migrations'

export class Migration20261122164400_requests_are_tracked extends Migration {
  override up(): void {
    this.addSql(`
      create table api_requests (
        organization_id varchar(50) not null,
        id varchar(50) not null,
        status int not null,
        url text not null,
        route text not null,
        "method" varchar(10) not null,
        request text null,
        response text null,
        request_headers jsonb not null,
        response_headers jsonb not null,
        api_key_id varchar(50) null,
        user_id varchar(50) null,
        ip_address varchar(45) not null,
        user_agent text null,
        related_resource_ids jsonb not null,
        duration int not null,
        created_time timestamptz(3) not null,
        updated_time timestamptz(3) not null,
        revision int not null default 1,
        primary key (organization_id, id)
      );
      create index api_requests_newest_index on api_requests (organization_id, created_time desc, id);
      create index api_requests_created_index on api_requests using brin (created_time);
      comment on table api_requests is 'One authenticated request to the API, and its outcome.';
      comment on column api_requests.id is 'The id is the request''s own: that of Request-Id.';
      comment on column api_requests.url is 'With credentials masked, as every text here.';
      comment on column api_requests.route is 'The path with the names of its parameters.';
      comment on column api_requests.api_key_id is 'The credential: an API key, or a customer''s token.';
      comment on column api_requests.duration is 'Milliseconds.';
      comment on column api_requests.created_time is 'When the request began; real time.';
    `)
  }
}
