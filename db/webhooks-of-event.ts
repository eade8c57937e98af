/** Which webhooks receive an event. It is decided when the event is written, in the same statement. */

/**
 * True of every `webhook` of its organization that receives the event `given`: it is active, is of all websites or of
 * the event's, and its filter is empty or names the event's type. An event without a website goes only to webhooks of
 * all websites.
 */
export const RECEIVES = `webhook.status = 'active'
          and webhook.id is distinct from given.except_webhook_id
          and (webhook.website_id is null or webhook.website_id = given.website_id)
          and (jsonb_array_length(webhook.events_filter) = 0 or webhook.events_filter @> to_jsonb(given.type))`
