import Type from 'typebox'
import { Id, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

const ReadOnlyText = (description: string) => ReadOnly(Type.String({ description }))
const TextOrNull = (description: string) => OrNull(Type.String({ description }))
const Headers = (description: string) =>
  ReadOnly(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description,
    }),
  )

export const ApiTracking = Type.Object(
  {
    ...resourceMembers,
    organizationId: ReadOnly(Id('Organization of the credential.')),
    status: ReadOnly(Type.Integer({ description: 'HTTP status of the response.' })),
    url: ReadOnlyText('URL of the request. Tokens are masked.'),
    route: ReadOnlyText('Path of the operation, with the names of its parameters.'),
    method: ReadOnly(Type.Enum(['HEAD', 'GET', 'POST', 'PUT', 'DELETE', 'PATCH'])),
    request: ReadOnly(
      TextOrNull('The first 8,192 characters of the body. Card data, keys, tokens and passwords are masked.'),
    ),
    response: ReadOnly(
      TextOrNull('The first 8,192 characters of the response. Keys, tokens and passwords are masked.'),
    ),
    requestHeaders: Headers('Headers of the request. Credentials are masked.'),
    responseHeaders: Headers('Headers of the response.'),
    user: ReadOnly(
      Type.Object(
        {
          userId: TextOrNull("Customer's token of the request, if a browser acted for a customer."),
          apiKeyId: TextOrNull('API key of the request.'),
          email: TextOrNull('Always null.'),
          firstName: TextOrNull('Always null.'),
          lastName: TextOrNull('Always null.'),
          ipAddress: Type.String({ description: 'IP address of the caller.' }),
          userAgent: TextOrNull('User agent of the caller.'),
          fingerprint: TextOrNull('Always null.'),
          isSupport: Type.Boolean({ description: 'Always false.' }),
        },
        { description: 'Who sent the request.' },
      ),
    ),
    ipAddress: ReadOnlyText('IP address of the caller.'),
    relatedResourceIds: ReadOnly(
      Type.Array(Type.String(), {
        maxItems: 50,
        description: 'Ids in the path, in the request and in the resource that was returned.',
      }),
    ),
    duration: ReadOnly(Type.Integer({ description: 'Duration of the request in milliseconds.' })),
  },
  {
    $id: 'ApiTracking',
    additionalProperties: false,
    description: 'An authenticated request to the API. Its id is that of the Request-Id header.',
  },
)
