/** True of a `webhook` that receives `given`. An event without a website goes only to webhooks of all websites. */
export const RECEIVES = `webhook.status = 'active'
          and webhook.id is distinct from given.except_webhook_id
          and (webhook.website_id is null or webhook.website_id = given.website_id)
          and (jsonb_array_length(webhook.events_filter) = 0 or webhook.events_filter @> to_jsonb(given.type))`
