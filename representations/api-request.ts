import type { ApiRequest } from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'

export function presentApiRequest(request: ApiRequest, baseUrl: string) {
  const ipAddress = request.ipAddress
  return {
    id: request.id,
    organizationId: request.organizationId,
    status: request.status,
    url: request.url,
    route: request.route,
    method: request.method,
    request: request.request ?? null,
    response: request.response ?? null,
    requestHeaders: request.requestHeaders,
    responseHeaders: request.responseHeaders,
    user: {
      userId: request.userId ?? null,
      apiKeyId: request.apiKeyId ?? null,
      email: null,
      firstName: null,
      lastName: null,
      ipAddress,
      userAgent: request.userAgent ?? null,
      fingerprint: null,
      isSupport: false,
    },
    ipAddress,
    relatedResourceIds: request.relatedResourceIds,
    duration: request.duration,
    revision: request.revision,
    createdTime: request.createdTime.toISOString(),
    updatedTime: request.updatedTime.toISOString(),
    _links: [
      { rel: 'self', href: resourceUrl(baseUrl, request.organizationId, 'tracking', 'api', request.id) },
    ],
  }
}
