import type { Call } from './call.ts'
import { GROUPS, type Operation, type OperationFacts } from './operations.ts'
import type { ShapeName } from './shapes.ts'

export const OPERATIONS = Object.assign({}, ...Object.values(GROUPS)) as Readonly<
  Record<Operation, OperationFacts>
>

export const KINDS: Readonly<Record<string, readonly ShapeName[]>> = {
  CompositeToken: ['PaymentCardToken'],
  PaymentInstrument: ['PaymentCard'],
  Plan: ['SubscriptionPlan', 'TrialOnlyPlan', 'OneTimeSalePlan'],
  ServiceCredential: ['WebhookCredential'],
  SubscriptionOrOneTimeSale: ['Subscription', 'OneTimeSale'],
  // Its own shape is not known; that of the other timelines is.
  GatewayAccountTimeline: ['TransactionTimeline'],
  CustomField: [
    'ArrayCustomField',
    'BooleanCustomField',
    'DateCustomField',
    'DateTimeCustomField',
    'IntegerCustomField',
    'NumberCustomField',
    'StringCustomField',
    'MonetaryCustomField',
  ],
}

/** Returns no shape if the response has no body, or one that is not the interface's. */
export function responseShapes({ operation, shape, ownShape }: Call): readonly ShapeName[] {
  const [method, path] = operation.split(' ')
  const { response = method === 'PUT' ? OPERATIONS[`GET ${path}` as Operation]?.response : undefined } =
    OPERATIONS[operation]
  if (response === undefined || ownShape === true) return []
  return shape === undefined ? (KINDS[response] ?? [response as ShapeName]) : [shape]
}

/** Returns undefined if the body is given whole. */
export function bodyShape(call: Call): ShapeName | undefined {
  return call.sends ?? call.shape ?? responseShapes(call)[0]
}

export function isList({ operation }: Call): boolean {
  return OPERATIONS[operation].query?.includes('limit') === true || operation.endsWith('/upcoming-invoices')
}
