import { apiRequestSearch } from '../../db/entities/api-request.ts'
import { ApiRequest, Organization } from '../../db/entities/index.ts'
import { presentApiRequest } from '../../representations/api-request.ts'
import { presentOrganization } from '../../representations/organization.ts'
import { constant, type Field, fieldsOf } from '../query/fields.ts'
import type { Resource } from '../resources/resource.ts'
import { ApiTracking } from '../schemas/api-tracking.ts'

const column = (name: string): Field => ({ sql: `row.${name}`, type: 'text' })

export const apiTracking: Resource<ApiRequest> = {
  name: 'ApiTracking',
  label: 'API request',
  path: 'tracking/api',
  schema: ApiTracking,
  entity: ApiRequest,
  table: 'api_requests',
  search: apiRequestSearch,
  fields: fieldsOf(ApiTracking, {
    'user.userId': column('user_id'),
    'user.apiKeyId': column('api_key_id'),
    'user.ipAddress': column('ip_address'),
    'user.userAgent': column('user_agent'),
    'user.email': constant(null),
    'user.firstName': constant(null),
    'user.lastName': constant(null),
    'user.fingerprint': constant(null),
    'user.isSupport': { sql: 'false::boolean', type: 'boolean', always: true },
  }),
  present: (row, { baseUrl }) => presentApiRequest(row, baseUrl),
  expanders: {
    async organization(rows, { em, organizationId, baseUrl }) {
      const organization = await em.findOneOrFail(Organization, { id: organizationId })
      return new Map(rows.map(({ id }) => [id, presentOrganization(organization, baseUrl)]))
    },
  },
}
