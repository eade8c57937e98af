/** Limit and offset: what a list takes, and the headers of a page (specification 4; links as in RFC 8288). */
import Type from 'typebox'

const LARGEST_LIMIT = 1000
const LARGEST_OFFSET = 1000

export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LARGEST_LIMIT,
      default: 100,
      description: 'Maximum number of items to return.',
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LARGEST_OFFSET,
      default: 0,
      description: 'Number of items to skip.',
    }),
  ),
}

export interface Page {
  readonly total: number
  readonly limit: number
  readonly offset: number
}

/** Characters. Clients and proxies refuse a response whose headers are too large. */
const LONGEST_LINK = 4_096

export type Range = Omit<Page, 'total'>

export function pageOf<T>(all: readonly T[], { limit, offset }: Range): { items: T[]; page: Page } {
  return { items: all.slice(offset, offset + limit), page: { total: all.length, limit, offset } }
}

/** Returns the counts and `Link` (RFC 8288), if the URL of the request, with its query, is short enough. */
export function pageHeaders(page: Page, url: string): Record<string, string> {
  const link = pageLinks(page, url).join(', ')
  return {
    'Pagination-Total': String(page.total),
    'Pagination-Limit': String(page.limit),
    'Pagination-Offset': String(page.offset),
    ...(link === '' || link.length > LONGEST_LINK ? {} : { Link: link }),
  }
}

/** A page that does not exist, or that cannot be requested, has no link. */
function pageLinks({ total, limit, offset }: Page, url: string): string[] {
  if (limit === 0) return []
  const last = Math.max(0, Math.ceil(total / limit) - 1) * limit
  const offsets: Record<string, number | null> = {
    first: 0,
    prev: offset > 0 ? Math.max(0, Math.min(offset - limit, last)) : null,
    next: offset + limit < total ? offset + limit : null,
    last,
  }
  return Object.entries(offsets).flatMap(([relation, start]) => {
    if (start === null || start > LARGEST_OFFSET) return []
    const target = new URL(url)
    target.searchParams.set('limit', String(limit))
    target.searchParams.set('offset', String(start))
    return [`<${target.href}>; rel="${relation}"`]
  })
}
