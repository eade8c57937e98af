import { type Link, resourceUrl } from './links.ts'

const PATHS: Readonly<Record<string, string>> = {
  subscriptions: 'orders',
  invoices: 'invoices',
  'payment-instruments': 'payment-instruments',
  transactions: 'transactions',
  plans: 'plans',
  products: 'products',
  websites: 'websites',
}

/** Of a JSON Schema: what lists members of objects. */
export interface ShownMembers {
  readonly properties?: Readonly<Record<string, ShownMembers>>
  readonly items?: ShownMembers
}

/** Returns the members that the schema has, also of the objects within. Links lead to the storefront; one without a place there is left out. */
export function storefrontView(
  representation: object,
  schema: ShownMembers,
  { baseUrl, organizationId }: { readonly baseUrl: string; readonly organizationId: string },
): object {
  const all = representation as Readonly<Record<string, unknown>>
  const own = resourceUrl(baseUrl, organizationId)
  const links = ((all._links ?? []) as readonly Link[]).flatMap(({ rel, href }) => {
    const [path = '', id = ''] = href.slice(own.length + 1).split('/')
    if (path === 'customers') return [{ rel, href: `${own}/storefront/account` }]
    const there = PATHS[path]
    return there === undefined ? [] : [{ rel, href: `${own}/storefront/${there}/${id}` }]
  })
  return { ...(shown(all, schema) as object), _links: links }
}

function shown(value: unknown, { properties, items }: ShownMembers): unknown {
  if (Array.isArray(value)) return items === undefined ? value : value.map((one) => shown(one, items))
  if (properties === undefined || typeof value !== 'object' || value === null) return value
  const all = value as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) =>
      Object.hasOwn(all, name) ? [[name, shown(all[name], schema)]] : [],
    ),
  )
}
