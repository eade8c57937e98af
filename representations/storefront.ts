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

/** Returns the named members. Links lead to the storefront; one without a place there is left out. */
export function storefrontView(
  representation: object,
  members: readonly string[],
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
  return {
    ...Object.fromEntries(members.flatMap((name) => (Object.hasOwn(all, name) ? [[name, all[name]]] : []))),
    _links: links,
  }
}
