/** A suite has an organization of its own. */
import type { Suite } from './call.ts'
import { PLANS, PRODUCTS, SHIPPING_RATES, WEBSITES } from './calls/catalogue.ts'
import { COUPONS } from './calls/coupons.ts'
import { CREDIT_MEMOS } from './calls/credit-memos.ts'
import { CUSTOMER_AUTHENTICATION, CUSTOMERS } from './calls/customers.ts'
import { INVOICES, ORDER_ACTIONS, ORDERS } from './calls/orders.ts'
import { API_KEYS, CUSTOM_FIELDS, ORGANIZATION, TAGS } from './calls/organization.ts'
import {
  DISPUTES,
  GATEWAY_ACCOUNTS,
  PAYMENT_INSTRUMENTS,
  PAYMENT_TOKENS,
  TRANSACTIONS,
} from './calls/payments.ts'
import { WEBHOOKS } from './calls/webhooks.ts'

export const SUITES: readonly Suite[] = [
  { title: 'customers', calls: CUSTOMERS },
  { title: 'customer authentication', calls: CUSTOMER_AUTHENTICATION },
  { title: 'websites', calls: WEBSITES },
  { title: 'products', calls: PRODUCTS },
  { title: 'plans', calls: PLANS },
  { title: 'shipping rates', calls: SHIPPING_RATES },
  { title: 'orders', calls: ORDERS },
  { title: 'order actions', calls: ORDER_ACTIONS },
  { title: 'coupons', calls: COUPONS },
  { title: 'invoices', calls: INVOICES },
  { title: 'credit memos', calls: CREDIT_MEMOS },
  { title: 'payment tokens and wallets', calls: PAYMENT_TOKENS },
  { title: 'payment instruments', calls: PAYMENT_INSTRUMENTS },
  { title: 'transactions', calls: TRANSACTIONS },
  { title: 'gateway accounts', calls: GATEWAY_ACCOUNTS },
  { title: 'disputes', calls: DISPUTES },
  { title: 'webhooks, credentials and tracking', calls: WEBHOOKS },
  { title: 'API keys', calls: API_KEYS },
  { title: 'the organization', calls: ORGANIZATION },
  { title: 'custom fields', calls: CUSTOM_FIELDS },
  { title: 'tags', calls: TAGS },
]
