import type { Call } from '../call.ts'
import { EventType } from '../shapes.ts'
import { CATALOGUE } from './setup.ts'

const credential: Pick<Call, 'shape' | 'body' | 'with'> = {
  shape: 'WebhookCredential',
  body: 'required',
  with: { host: '{receiver}' },
}

export const WEBHOOKS: readonly Call[] = [
  ...CATALOGUE,
  {
    operation: 'POST service-credentials/{type}',
    ...credential,
    body: 'full',
    case: 'with every member',
    of: ['=webhook'],
    with: {
      host: '{receiver}',
      auth: { type: 'basic', username: 'shop', password: 'opensesame' },
      status: 'active',
    },
    as: 'credential',
  },
  {
    operation: 'POST service-credentials/{type}',
    ...credential,
    body: 'nulls',
    case: 'with nulls',
    of: ['=webhook'],
    with: { host: '{receiver}', auth: { type: 'none' } },
    as: 'second',
  },
  {
    operation: 'POST service-credentials/{type}',
    ...credential,
    case: 'with what is required',
    of: ['=webhook'],
  },
  ...['none', 'digest'].map(
    (type): Call => ({
      operation: 'POST service-credentials/{type}',
      ...credential,
      case: `with authentication of the type ${type}`,
      of: ['=webhook'],
      with: {
        host: '{receiver}',
        auth: { type, ...(type === 'none' ? {} : { username: 'shop', password: 'opensesame' }) },
      },
      ...(type === 'digest' ? { notYet: 'digest authentication of receivers' } : {}),
    }),
  ),
  { operation: 'GET service-credentials/{type}', of: ['=webhook'] },
  { operation: 'GET service-credentials/{type}/{id}', of: ['=webhook', 'credential.hash'] },
  {
    operation: 'PATCH service-credentials/{type}/{id}',
    body: 'given',
    with: { status: 'active' },
    of: ['=webhook', 'credential.hash'],
  },
  { operation: 'GET service-credentials/{type}/{id}/items', of: ['=webhook', 'credential.hash'] },

  {
    operation: 'POST webhooks',
    body: 'full',
    case: 'with every member',
    with: { url: '{receiver.url}', eventsFilter: [], method: 'POST' },
    as: 'webhook',
  },
  {
    operation: 'POST webhooks',
    body: 'nulls',
    case: 'with nulls',
    with: { url: '{receiver.url}', method: 'POST' },
    as: 'another',
  },
  ...['GET', 'PUT', 'PATCH', 'DELETE'].map(
    (method): Call => ({
      operation: 'POST webhooks',
      body: 'required',
      case: `that is sent by ${method}`,
      with: { url: '{receiver.url}', method },
    }),
  ),
  {
    operation: 'POST webhooks',
    body: 'required',
    case: 'of every type of event',
    with: { url: '{receiver.url}', method: 'POST', eventsFilter: [...EventType.enum] },
  },
  { operation: 'GET webhooks' },
  { operation: 'GET webhooks/{id}', of: ['webhook'], as: 'webhook' },
  { operation: 'PUT webhooks/{id}', body: { held: 'webhook' }, case: 'with what was read', of: ['webhook'] },
  {
    operation: 'PUT webhooks/{id}',
    body: 'full',
    case: 'with every member, of a new id',
    of: ['=orders'],
    with: { url: '{receiver.url}', method: 'POST' },
    status: 201,
  },
  { operation: 'DELETE webhooks/{id}', of: ['another'] },
  {
    operation: 'POST previews/webhooks',
    body: 'full',
    case: 'with every member',
    shape: 'GlobalWebhook',
    with: { url: '{receiver.url}', eventsFilter: [], method: 'POST' },
  },
  {
    operation: 'POST previews/webhooks',
    body: 'required',
    case: 'with what is required',
    shape: 'GlobalWebhook',
    with: { url: '{receiver.url}', method: 'POST' },
  },

  { operation: 'POST customers', body: 'required', case: 'with what is required', as: 'customer' },
  { operation: 'GET tracking/webhooks', until: { method: 'POST' }, as: 'attempts' },
  { operation: 'GET tracking/webhooks/{id}', of: ['attempts.0.id'] },
  { operation: 'POST tracking/webhooks/{id}/resend', of: ['attempts.0.id'] },
  { operation: 'GET tracking/api', until: { method: 'POST' }, as: 'requests' },
  { operation: 'GET tracking/api/{id}', of: ['requests.0.id'] },
  { operation: 'GET events', ownShape: true, until: {}, as: 'events' },
  { operation: 'GET events/{eventType}', case: 'by the id of an event', ownShape: true, of: ['events.0.id'] },
]
