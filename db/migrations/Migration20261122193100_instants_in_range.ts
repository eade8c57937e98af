import { Migration } from '@mikro-orm/migrations'

/** Moves stored instants into 1970 to 9999, to the nearer end: earlier releases took a mistyped `0026-01-15`. */
export class Migration20261122193100_instants_in_range extends Migration {
  override name = 'Migration20261122193100_instants_in_range'

  override up(): void {
    this.addSql(`
      do $$
      declare
        earliest constant text := '''1970-01-01T00:00:00.000Z''';
        latest constant text := '''9999-12-31T23:59:59.999Z''';
        place record;
      begin
        for place in
          select relation.oid::regclass as name,
                 string_agg(format('%1$I = case when %1$I < %2$s then %2$s when %1$I > %3$s then %3$s else %1$I end',
                                   col.attname, earliest, latest), ', ') as changes,
                 string_agg(format('%1$I < %2$s or %1$I > %3$s', col.attname, earliest, latest), ' or ') as found,
                 exists (select from pg_attribute other where other.attrelid = relation.oid
                            and other.attname = 'revision' and not other.attisdropped) as has_revision
            from pg_class relation
            join pg_attribute col on col.attrelid = relation.oid and col.attnum > 0 and not col.attisdropped
           where relation.relkind = 'r' and relation.relnamespace = current_schema()::regnamespace
             and col.atttypid = 'timestamptz'::regtype
           group by relation.oid
        loop
          execute format('update %s set %s%s where %s', place.name, place.changes,
                         case when place.has_revision then ', revision = revision + 1' else '' end, place.found);
        end loop;
      end $$`)
    // A year of four digits compares like a text; a longer one begins with a sign, which comes before every digit.
    this.addSql(`
      update subscriptions
         set trial = jsonb_set(trial, '{endTime}', to_jsonb(
               case when trial ->> 'endTime' like '+%' then '9999-12-31T23:59:59.999Z'
                    else '1970-01-01T00:00:00.000Z' end)),
             revision = revision + 1
       where trial ->> 'endTime' collate "C" < '1970'`)
  }
}
