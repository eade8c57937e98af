/**
 * The route table: the whole surface of the API, one row per operation.
 *
 * A row states who may call it and what goes in and out; the middleware enforces it and the OpenAPI document says it,
 * both from the same row.
 */
import type { TSchema } from 'typebox'
import type { OperationHandler } from './operation.ts'
import * as customers from './operations/customers.ts'
import * as plans from './operations/plans.ts'
import * as subscriptions from './operations/subscriptions.ts'
import * as webhooks from './operations/webhooks.ts'
import * as websites from './operations/websites.ts'
import { Customer } from './schemas/customer.ts'
import { Plan } from './schemas/plan.ts'
import { Subscription } from './schemas/subscription.ts'
import { Webhook } from './schemas/webhook.ts'
import { Website } from './schemas/website.ts'

export type KeyForm = 'secret' | 'publishable' | 'customer'

export interface Route {
  /** Also the permission that an access list names. */
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/organizations/{organizationId}/`. */
  readonly path: string
  readonly summary: string
  /** Forms of credential it accepts. */
  readonly accepts: readonly KeyForm[]
  /** The resource as a schema: its writable members are the body, its readable ones the answer. */
  readonly resource: TSchema
  readonly takesBody: boolean
  readonly success: 200 | 201 | 202 | 204
  readonly handler: OperationHandler
}

const SECRET = ['secret'] as const

export const ROUTES: readonly Route[] = [
  ...createAndRead('websites', 'Website', Website, websites),
  ...createAndRead('customers', 'Customer', Customer, customers),
  ...createAndRead('plans', 'Plan', Plan, plans),
  ...createAndRead('webhooks', 'Webhook', Webhook, webhooks),
  ...createAndRead('subscriptions', 'Subscription', Subscription, subscriptions),
]

/** The rows every resource of this stage has: create one, read one. */
function createAndRead(
  path: string,
  name: string,
  resource: TSchema,
  operations: { readonly create: OperationHandler; readonly read: OperationHandler },
): Route[] {
  return [
    {
      operationId: `Post${name}`,
      method: 'POST',
      path,
      summary: `Create a ${name.toLowerCase()}`,
      accepts: SECRET,
      resource,
      takesBody: true,
      success: 201,
      handler: operations.create,
    },
    {
      operationId: `Get${name}`,
      method: 'GET',
      path: `${path}/{id}`,
      summary: `Read a ${name.toLowerCase()}`,
      accepts: SECRET,
      resource,
      takesBody: false,
      success: 200,
      handler: operations.read,
    },
  ]
}
