/** `_links`: where related resources are. */

export interface Link {
  readonly href: string
  readonly rel: string
}

/** Absolute address of a resource of an organization. */
export function resourceUrl(baseUrl: string, organizationId: string, ...segments: string[]): string {
  return [`${baseUrl}/organizations`, ...[organizationId, ...segments].map(encodeURIComponent)].join('/')
}
