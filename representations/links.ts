/** `_links`: where related resources are. */

export interface Link {
  readonly href: string
  readonly rel: string
}

/** Absolute address of a resource of an organization. */
export function resourceUrl(baseUrl: string, organizationId: string, ...segments: string[]): string {
  return [`${baseUrl}/organizations`, ...[organizationId, ...segments].map(encodeURIComponent)].join('/')
}

/** Address of a move of an order's clock. */
export function fastForwardUrl(
  move: { readonly organizationId: string; readonly subscriptionId: string; readonly id: string },
  baseUrl: string,
): string {
  return resourceUrl(
    baseUrl,
    move.organizationId,
    'subscriptions',
    move.subscriptionId,
    'fast-forward',
    move.id,
  )
}
