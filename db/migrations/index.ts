/**
 * Every migration, oldest first. Add what `npm run migration:create` wrote to the end, named by what it changes. An index on
 * a table that has rows is made `concurrently`, in a migration of its own without a transaction.
 */
import { Migration20261122120000_baseline } from './Migration20261122120000_baseline.ts'
import { Migration20261122150300_instants_in_range } from './Migration20261122150300_instants_in_range.ts'

export const migrations = [
  { name: 'Migration20261122120000_baseline', class: Migration20261122120000_baseline },
  {
    name: 'Migration20261122150300_instants_in_range',
    class: Migration20261122150300_instants_in_range,
  },
]
