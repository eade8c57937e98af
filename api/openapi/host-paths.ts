import { PROBLEMS } from '../http/problems.ts'
import { PARAMETERS, parameterRef } from './parameters.ts'
import { headers } from './responses.ts'
import { type Components, type JsonSchema, refToComponent } from './schemas.ts'
import { HOST_TAG } from './tags.ts'

/** Adds the schemas, and returns the operations by path and method. */
export function hostPaths(components: Components): Record<string, Record<string, HostOperation>> {
  for (const [name, schema] of Object.entries(SCHEMAS)) components.add(name, schema)
  const status = json('The service is running.', 'Status', {
    status: 'ok',
    time: '2026-01-31T09:00:00.000Z',
    release: 'r4c2f91',
  })
  return {
    '/status': { get: operation('GetStatus', 'Retrieve the status', { 200: status }) },
    '/organizations/{organizationId}/status': {
      get: {
        ...operation('GetOrganizationStatus', 'Retrieve the status below an organization', { 200: status }),
        parameters: [parameterRef('OrganizationId')],
      },
    },
    '/healthz': {
      get: operation('GetHealth', 'Check that the process is alive', {
        200: json('The process is alive.', 'Health', { status: 'ok' }),
      }),
    },
    '/readyz': {
      get: operation('GetReadiness', 'Check that the service can process requests', {
        200: json('The service can process requests.', 'Readiness', { status: 'ready', failing: [] }),
        503: { $ref: '#/components/responses/ServiceUnavailable' },
      }),
    },
    '/.well-known/keys': {
      get: operation('GetSigningKeys', 'List the public keys of webhook signatures', {
        200: json('The keys that a receiver can meet. Keep them for at most an hour.', 'JsonWebKeySet', {
          keys: [{ kty: 'RSA', kid: 'k1', alg: 'RS256', use: 'sig', n: 'u1SU1LfVLPHCozMxH2Mo…', e: 'AQAB' }],
        }),
        503: { $ref: '#/components/responses/ServiceUnavailable' },
      }),
    },
    '/openapi.json': {
      get: operation('GetOpenApiDocument', 'Retrieve this document', {
        200: {
          description: 'This document.',
          headers: headers('RequestId'),
          content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
        },
      }),
    },
    '/docs': { get: operation('GetDocs', 'Read the reference', { 200: page('The reference.') }) },
    '/problems/{slug}': {
      get: {
        ...operation('GetProblemPage', 'Read the explanation of a problem', {
          200: page('The explanation.'),
          404: { $ref: '#/components/responses/NotFound' },
        }),
        parameters: [
          {
            ...PARAMETERS.Limit,
            name: 'slug',
            in: 'path',
            required: true,
            description: 'Code of the problem.',
            schema: { type: 'string', enum: Object.keys(PROBLEMS) },
          },
        ],
      },
    },
  }
}

export interface HostOperation {
  readonly operationId: string
  readonly summary: string
  readonly [member: string]: unknown
}

function operation(operationId: string, summary: string, responses: object): HostOperation {
  return {
    operationId,
    summary,
    description: 'Needs no credential.',
    tags: [HOST_TAG.name],
    security: [],
    responses: {
      ...responses,
      '4XX': { $ref: '#/components/responses/Refused' },
      500: { $ref: '#/components/responses/InternalServerError' },
    },
  }
}

function json(description: string, schema: string, example: object): object {
  return {
    description,
    headers: headers('RequestId'),
    content: { 'application/json': { schema: refToComponent(schema), example } },
  }
}

function page(description: string): object {
  return {
    description,
    headers: headers('RequestId'),
    content: { 'text/html': { schema: { type: 'string' } } },
  }
}

const text = (description: string): JsonSchema => ({ type: 'string', description })

const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Status: {
    type: 'object',
    description: 'The status of the service.',
    required: ['status', 'time', 'release'],
    properties: {
      status: { type: 'string', enum: ['ok'] },
      time: { type: 'string', format: 'date-time', description: 'Time of the service.' },
      release: { type: 'string', pattern: '^[a-z0-9]{7}$', description: 'Release of the service.' },
    },
  },
  Health: {
    type: 'object',
    description: 'The health of the process.',
    required: ['status'],
    properties: { status: { type: 'string', enum: ['ok'] } },
  },
  Readiness: {
    type: 'object',
    description: 'Whether the service can process requests.',
    required: ['status', 'failing'],
    properties: {
      status: text('Whether the service is ready.'),
      failing: { type: 'array', description: 'Names of failing components.', items: { type: 'string' } },
    },
  },
  JsonWebKeySet: {
    type: 'object',
    description: 'Public keys (RFC 7517).',
    required: ['keys'],
    properties: { keys: { type: 'array', items: refToComponent('JsonWebKey') } },
  },
  JsonWebKey: {
    type: 'object',
    description: 'A public key with which webhook signatures are verified.',
    required: ['kty', 'kid', 'alg', 'use', 'n', 'e'],
    properties: {
      kty: { type: 'string', enum: ['RSA'], description: 'Type of the key.' },
      kid: text('Id of the key, as in the header of a signature.'),
      alg: { type: 'string', enum: ['RS256'], description: 'Algorithm of signatures.' },
      use: { type: 'string', enum: ['sig'], description: 'Use of the key.' },
      n: text('Modulus, in base64url.'),
      e: text('Exponent, in base64url.'),
    },
  },
}
