/** PostgreSQL notification channels. A notification only hints at work; every listener polls as well. */
export const WAKE_UP_CHANNEL = 'billing_wake_up'
export const RESEND_CHANNEL = 'billing_resend'
export const DELIVERY_CHANNEL = 'billing_delivery'
export const NOTIFICATION_CHANNEL = 'billing_notification'
