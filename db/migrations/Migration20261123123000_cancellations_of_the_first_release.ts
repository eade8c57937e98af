import { Migration } from '@mikro-orm/migrations'

/**
 * Repairs what the first text of `members_of_orders` did to orders that were canceled before it ran. It looked for
 * timeline entries by names that they no longer had: `canceled_time` stayed null, so that the next transition of the
 * order cleared its `cancellation_id`, and cancellations that had ended service were revoked. Where the later text ran,
 * nothing is found.
 */
export class Migration20261123123000_cancellations_of_the_first_release extends Migration {
  override name = 'Migration20261123123000_cancellations_of_the_first_release'

  override up(): void {
    const upgraded = `(select executed_at from schema_migrations where name = 'Migration20261122161500_members_of_orders')`
    this.addSql(`
      update subscriptions canceled
         set canceled_time = entry.occurred_time,
             cancellation_id = coalesce(canceled.cancellation_id, newest.id),
             revision = revision + 1
        from (select organization_id, id, canceled_by from subscriptions
               where canceled_by is not null and canceled_time is null) lost
        left join lateral (
               select max(occurred_time) as occurred_time from timeline_entries
                where organization_id = lost.organization_id and subscription_id = lost.id and type = 'order-canceled'
             ) entry on true
        left join (
               select distinct on (organization_id, subscription_id) organization_id, subscription_id, id
                 from subscription_cancellations where canceled_time is not null
                order by organization_id, subscription_id, canceled_time desc, created_time desc
             ) newest on newest.organization_id = lost.organization_id and newest.subscription_id = lost.id
                     and lost.canceled_by in ('merchant', 'customer')
       where canceled.organization_id = lost.organization_id and canceled.id = lost.id
         and (entry.occurred_time is not null or canceled.cancellation_id is null and newest.id is not null)
    `)
    // Of several for the same churn time, only the last was not undone.
    this.addSql(`
      update subscription_cancellations cancellation set status = 'completed', revision = revision + 1
        from (select distinct on (organization_id, subscription_id, churn_time) organization_id, id
                from subscription_cancellations where canceled_time is not null
               order by organization_id, subscription_id, churn_time, canceled_time desc, created_time desc) last
       where last.organization_id = cancellation.organization_id and last.id = cancellation.id
         and cancellation.status in ('confirmed', 'revoked') and cancellation.created_time <= ${upgraded}
         and exists (select from timeline_entries entry
                      where entry.organization_id = cancellation.organization_id
                        and entry.subscription_id = cancellation.subscription_id
                        and entry.type = 'order-churned' and entry.occurred_time = cancellation.churn_time)
    `)
    // Confirmed, although service has ended or goes on: what ended it did not find its cancellation.
    this.addSql(`
      update subscription_cancellations cancellation
         set status = case when subscription.status = 'churned' and subscription.cancellation_id = cancellation.id
                           then 'completed' else 'revoked' end,
             revision = cancellation.revision + 1
        from subscriptions subscription
       where subscription.organization_id = cancellation.organization_id and subscription.id = cancellation.subscription_id
         and cancellation.status = 'confirmed' and cancellation.created_time <= ${upgraded}
         and (subscription.status <> 'canceled' or subscription.cancellation_id is distinct from cancellation.id)
    `)
    // A reactivation since then names no cancellation only if it reverses one for delinquency.
    this.addSql(`
      update subscription_reactivations reactivation
         set cancellation_id = newest.id, revision = reactivation.revision + 1
        from (select organization_id, id, (
                       select max(occurred_time) from timeline_entries entry
                        where entry.organization_id = made.organization_id and entry.subscription_id = made.subscription_id
                          and entry.type = 'order-canceled' and entry.occurred_time <= made.effective_time
                     ) as canceled_time
                from subscription_reactivations made
               where cancellation_id is null and created_time > ${upgraded}) lost,
             (select distinct on (organization_id, subscription_id) organization_id, subscription_id, id
                from subscription_cancellations where canceled_time is not null and created_time <= ${upgraded}
               order by organization_id, subscription_id, canceled_time desc, created_time desc) newest
       where reactivation.organization_id = lost.organization_id and reactivation.id = lost.id
         and newest.organization_id = lost.organization_id and newest.subscription_id = reactivation.subscription_id
         and not exists (select from timeline_entries entry
                          where entry.organization_id = lost.organization_id
                            and entry.subscription_id = reactivation.subscription_id
                            and entry.type = 'order-delinquency-reached' and entry.occurred_time = lost.canceled_time)
    `)
  }
}
