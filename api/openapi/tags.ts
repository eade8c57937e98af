export interface Tag {
  readonly name: string
  readonly description: string
}

const CUSTOMER_AUTHENTICATION: Tag = {
  name: 'Customer authentication',
  description:
    'How customers sign in: usernames and passwords, and short-lived tokens with which a browser acts for a customer.',
}
const WEBHOOKS: Tag = {
  name: 'Webhooks',
  description: 'URLs that receive events, and the credentials that are sent to them.',
}
const SUBSCRIPTIONS: Tag = {
  name: 'Subscriptions',
  description: 'Orders of customers: their items, their life cycle and their clock in the sandbox.',
}

const TAGS: Readonly<Record<string, Tag>> = {
  '': { name: 'Organization', description: 'The merchant itself, with the settings of its orders.' },
  'api-keys': { name: 'API keys', description: 'Credentials of the organization and what they permit.' },
  customers: { name: 'Customers', description: 'Customers of the organization.' },
  websites: { name: 'Websites', description: 'Websites on which the organization sells.' },
  tags: { name: 'Tags', description: 'Labels that you give to customers.' },
  'custom-fields': {
    name: 'Custom fields',
    description: 'Definitions of the custom fields of resources, against which values are validated.',
  },
  'gateway-accounts': {
    name: 'Gateway accounts',
    description: 'Accounts with payment providers, through which cards are charged.',
  },
  products: { name: 'Products', description: 'What plans sell.' },
  plans: { name: 'Plans', description: 'Prices and schedules of products.' },
  coupons: { name: 'Coupons', description: 'Discounts on invoices.' },
  tokens: {
    name: 'Payment tokens',
    description: 'Card data for a single use, sent by a browser so that it never reaches your server.',
  },
  'digital-wallets': { name: 'Digital wallets', description: 'Merchant sessions of digital wallets.' },
  'payment-instruments': {
    name: 'Payment instruments',
    description: 'Cards of customers that can be charged again.',
  },
  transactions: { name: 'Transactions', description: 'Sales, refunds and their outcomes.' },
  disputes: { name: 'Disputes', description: "Customers' objections to transactions at their bank." },
  'authentication-tokens': CUSTOMER_AUTHENTICATION,
  'authentication-options': CUSTOMER_AUTHENTICATION,
  credentials: CUSTOMER_AUTHENTICATION,
  'password-tokens': CUSTOMER_AUTHENTICATION,
  subscriptions: SUBSCRIPTIONS,
  'subscription-cancellations': SUBSCRIPTIONS,
  'subscription-pauses': SUBSCRIPTIONS,
  'subscription-reactivations': SUBSCRIPTIONS,
  invoices: {
    name: 'Invoices',
    description: 'What customers owe: for a period of an order, or for items of your own.',
  },
  'credit-memos': {
    name: 'Credit memos',
    description:
      'What customers are owed: it covers an invoice, or waits as credit balance for the next one.',
  },
  webhooks: WEBHOOKS,
  previews: WEBHOOKS,
  'service-credentials': WEBHOOKS,
  'tracking/api': { name: 'Request log', description: 'Requests of the last 30 days, for debugging.' },
  tracking: {
    name: 'Delivery log',
    description: 'Attempts to deliver events, which can be made again.',
  },
  events: { name: 'Events', description: 'What happened, for receivers that missed a delivery.' },
  storefront: {
    name: 'Storefront',
    description: "Operations of a customer's browser. They concern that customer's own records.",
  },
}

export const HOST_TAG: Tag = {
  name: 'Service',
  description: 'Status, public keys and documents of the service. They need no credential.',
}

/** Returns the tag of a path below the organization. Default: the words of the path's resource. */
export function tagOf(path: string): Tag {
  const segment = path.split('/')[0] ?? ''
  const words = segment.replaceAll('-', ' ')
  const name = words.charAt(0).toUpperCase() + words.slice(1)
  return (
    TAGS[path.split('/').slice(0, 2).join('/')] ??
    TAGS[segment] ?? { name, description: `Operations on ${words}.` }
  )
}
