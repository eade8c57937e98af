/** Every migration, oldest first. Add what `npm run migration:create` wrote to the end. */
import { Migration20261121162243_first_light } from './Migration20261121162243_first_light.ts'
import { Migration20261121173626_contract } from './Migration20261121173626_contract.ts'
import { Migration20261121175221_contract_rest } from './Migration20261121175221_contract_rest.ts'
import { Migration20261121180028_webhooks_rest } from './Migration20261121180028_webhooks_rest.ts'
import { Migration20261121180510_payments } from './Migration20261121180510_payments.ts'
import { Migration20261121180839_orders } from './Migration20261121180839_orders.ts'
import { Migration20261121193600_fill_factor } from './Migration20261121193600_fill_factor.ts'
import { Migration20261121194310_charging } from './Migration20261121194310_charging.ts'
import { Migration20261121195504_clock } from './Migration20261121195504_clock.ts'
import { Migration20261121202224_resources } from './Migration20261121202224_resources.ts'
import { Migration20261121205902_fixmoney } from './Migration20261121205902_fixmoney.ts'
import { Migration20261121230423_first_wake_ups } from './Migration20261121230423_first_wake_ups.ts'
import { Migration20261122022208_wake_ups_that_wait } from './Migration20261122022208_wake_ups_that_wait.ts'
import { Migration20261122081000_event_positions } from './Migration20261122081000_event_positions.ts'
import { Migration20261122081500_dispatch } from './Migration20261122081500_dispatch.ts'
import { Migration20261122082800_live_periods } from './Migration20261122082800_live_periods.ts'
import { Migration20261122084800_refunds_owed } from './Migration20261122084800_refunds_owed.ts'
import { Migration20261122090000_timers_lead } from './Migration20261122090000_timers_lead.ts'

export const migrations = [
  { name: 'Migration20261121162243_first_light', class: Migration20261121162243_first_light },
  { name: 'Migration20261121173626_contract', class: Migration20261121173626_contract },
  { name: 'Migration20261121175221_contract_rest', class: Migration20261121175221_contract_rest },
  { name: 'Migration20261121180028_webhooks_rest', class: Migration20261121180028_webhooks_rest },
  { name: 'Migration20261121180510_payments', class: Migration20261121180510_payments },
  { name: 'Migration20261121180839_orders', class: Migration20261121180839_orders },
  { name: 'Migration20261121193600_fill_factor', class: Migration20261121193600_fill_factor },
  { name: 'Migration20261121194310_charging', class: Migration20261121194310_charging },
  { name: 'Migration20261121195504_clock', class: Migration20261121195504_clock },
  { name: 'Migration20261121202224_resources', class: Migration20261121202224_resources },
  { name: 'Migration20261121205902_fixmoney', class: Migration20261121205902_fixmoney },
  { name: 'Migration20261121230423_first_wake_ups', class: Migration20261121230423_first_wake_ups },
  { name: 'Migration20261122022208_wake_ups_that_wait', class: Migration20261122022208_wake_ups_that_wait },
  { name: 'Migration20261122081000_event_positions', class: Migration20261122081000_event_positions },
  { name: 'Migration20261122081500_dispatch', class: Migration20261122081500_dispatch },
  { name: 'Migration20261122082800_live_periods', class: Migration20261122082800_live_periods },
  { name: 'Migration20261122084800_refunds_owed', class: Migration20261122084800_refunds_owed },
  { name: 'Migration20261122090000_timers_lead', class: Migration20261122090000_timers_lead },
]
