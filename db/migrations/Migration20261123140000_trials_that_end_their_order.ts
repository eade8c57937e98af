import { Migration } from '@mikro-orm/migrations'

/**
 * A plan for a trial alone ended its whole order with the trial, whatever stood beside it. Where recurring plans do, they go on
 * since then. Orders that were agreed before, and whose trial has not ended, end with it as agreed: by their own `is_trial_only`.
 */
export class Migration20261123140000_trials_that_end_their_order extends Migration {
  override name = 'Migration20261123140000_trials_that_end_their_order'

  override up(): void {
    const isForTrial = `item #> '{priced,isTrialOnly}' = 'true' and jsonb_typeof(item #> '{priced,trial}') = 'object'`
    const recurs = `jsonb_typeof(item #> '{priced,recurringInterval}') = 'object'`
    this.addSql(`
      update subscriptions set is_trial_only = true, revision = revision + 1
       where not is_trial_only
         and status in ('pending', 'active', 'paused', 'canceled', 'churned')
         and coalesce(rebill_number, 0) = 0 and invoiced_through = 0
         and (trial is null or trial -> 'enabled' = 'true' and trial ->> 'endTime' is not null)
         and exists (select from jsonb_array_elements(items) item where ${isForTrial})
         and exists (select from jsonb_array_elements(items) item where ${recurs} and (${isForTrial}) is not true)
    `)
  }
}
