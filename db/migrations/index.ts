/** Every migration, oldest first. Add what `npm run migration:create` wrote to the end. */
import { Migration20261121162243_first_light } from './Migration20261121162243_first_light.ts'

export const migrations = [
  { name: 'Migration20261121162243_first_light', class: Migration20261121162243_first_light },
]
