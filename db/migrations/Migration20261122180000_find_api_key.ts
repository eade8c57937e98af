import { Migration } from '@mikro-orm/migrations'

/**
 * A caller's organization is unknown until the key is found, so that this look-up is made with the rights of
 * the tables' owner, and only for a whole value.
 */
export class Migration20261122180000_find_api_key extends Migration {
  override name = 'Migration20261122180000_find_api_key'

  override up(): void {
    this.addSql(`
      create function find_api_key(presented varchar)
        returns table (organization_id varchar, id varchar, "type" varchar, acl jsonb, allowed_ips jsonb)
        language plpgsql stable security definer set search_path = pg_catalog, public rows 1
      as $$
      begin
        return query select key.organization_id, key.id, key."type", key.acl, key.allowed_ips
                       from public.api_keys key where key.key_hash = presented;
      end
      $$;
      comment on function find_api_key is 'The key with that hash, of whichever organization: row-level security shows the API no keys before it knows the organization.';
    `)
  }

  override down(): void {
    this.addSql('drop function if exists find_api_key')
  }
}
