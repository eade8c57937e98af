/** PostgreSQL notification channels: a hint that there is work, behind which a poll stands. */
export const WAKE_UP_CHANNEL = 'billing_wake_up'
export const RESEND_CHANNEL = 'billing_resend'
export const DELIVERY_CHANNEL = 'billing_delivery'
