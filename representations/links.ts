export interface Link {
  readonly href: string
  readonly rel: string
}

export function resourceUrl(baseUrl: string, organizationId: string, ...segments: string[]): string {
  return [`${baseUrl}/organizations`, ...[organizationId, ...segments].map(encodeURIComponent)].join('/')
}

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
