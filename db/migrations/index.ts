/**
 * Every migration, oldest first. Add what `npm run migration:create` wrote to the end, named by what it changes. An index on
 * a table that has rows is made `concurrently`, in a migration of its own without a transaction.
 */
import { Migration20261122120000_baseline } from './Migration20261122120000_baseline.ts'
import { Migration20261122153000_transactions_know_why_they_were_declined } from './Migration20261122153000_transactions_know_why_they_were_declined.ts'
import { Migration20261122154000_gateway_accounts } from './Migration20261122154000_gateway_accounts.ts'
import { Migration20261122161500_members_of_orders } from './Migration20261122161500_members_of_orders.ts'

export const migrations = [
  { name: 'Migration20261122120000_baseline', class: Migration20261122120000_baseline },
  {
    name: 'Migration20261122153000_transactions_know_why_they_were_declined',
    class: Migration20261122153000_transactions_know_why_they_were_declined,
  },
  {
    name: 'Migration20261122154000_gateway_accounts',
    class: Migration20261122154000_gateway_accounts,
  },
  {
    name: 'Migration20261122161500_members_of_orders',
    class: Migration20261122161500_members_of_orders,
  },
]
