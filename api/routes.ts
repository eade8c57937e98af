/** The route table: one row per operation. Middleware enforces it, and the OpenAPI document is made from it. */
import Type, { type TSchema } from 'typebox'
import type { Config } from '../config/config.ts'
import type { GatewayAccountStatus } from '../db/entities/gateway-account.ts'
import { type IdPrefix, newId } from '../db/new-id.ts'
import type { KeyForm } from './http/authentication.ts'
import type { OperationHandler, SignedHandler } from './operation.ts'
import { apiKeys, apiKeyWriter, deleteApiKey } from './operations/api-keys.ts'
import { apiTracking } from './operations/api-tracking.ts'
import { getAuthenticationOptions, putAuthenticationOptions } from './operations/authentication-options.ts'
import {
  authenticationTokens,
  deleteAuthenticationToken,
  exchangeToken,
  getAuthenticationToken,
  postAuthenticationToken,
} from './operations/authentication-tokens.ts'
import { postChangeItems } from './operations/change-items.ts'
import {
  couponRedemptions,
  couponRedemptionWriter,
  coupons,
  couponWriter,
  deleteCoupon,
  postCouponExpiration,
  postRedemptionCancellation,
} from './operations/coupons.ts'
import { credentials, deleteCredential, postCredential, putCredential } from './operations/credentials.ts'
import {
  creditMemos,
  creditMemoWriter,
  getCreditBalance,
  patchCreditMemo,
  postCreditAllocation,
  postCreditMemoRefund,
  postCreditMemoVoid,
} from './operations/credit-memos.ts'
import { customFields, getCustomField, listCustomFields, putCustomField } from './operations/custom-fields.ts'
import {
  customers,
  customerWriter,
  deleteCustomer,
  deleteLeadSource,
  getLeadSource,
  putLeadSource,
} from './operations/customers.ts'
import { postDigitalWalletValidation } from './operations/digital-wallets.ts'
import { disputes, disputeWriter } from './operations/disputes.ts'
import { getFastForward, postFastForward } from './operations/fast-forward.ts'
import {
  changeStatus,
  checkCredentials,
  deleteGatewayAccount,
  gatewayAccounts,
  gatewayAccountWriter,
  patchGatewayAccount,
  postGatewayAccount,
  putGatewayAccount,
} from './operations/gateway-accounts.ts'
import { postNotification } from './operations/gateway-notifications.ts'
import { getInvoice } from './operations/invoice-document.ts'
import {
  getInvoiceItem,
  getInvoiceItems,
  getTransactionAllocations,
  invoiceItems,
  invoices,
  postInvoiceAbandon,
  postInvoiceReissue,
  postInvoiceVoid,
} from './operations/invoices.ts'
import {
  cancellations,
  cancellationWriter,
  deleteCancellation,
  deletePause,
  getUpcomingInvoice,
  getUpcomingInvoices,
  patchCancellation,
  pauses,
  pauseWriter,
  postInterimInvoice,
  postUpcomingInvoiceIssue,
  postVoid,
  reactivations,
  reactivationWriter,
  upcomingInvoices,
} from './operations/order-actions.ts'
import { previewOrderOf } from './operations/order-previews.ts'
import { deleteOrder, patchItem, subscriptions, subscriptionWriter } from './operations/orders.ts'
import {
  getOrganization,
  organizations,
  patchOrganization,
  putOrganization,
} from './operations/organizations.ts'
import {
  deleteInvoiceItem,
  invoiceWriter,
  postInvoiceIssue,
  postInvoiceItem,
  postInvoiceRecalculation,
  postInvoiceTransaction,
  putInvoiceItem,
} from './operations/own-invoices.ts'
import {
  deletePasswordToken,
  getPasswordToken,
  passwordTokens,
  postPasswordToken,
} from './operations/password-tokens.ts'
import {
  deactivateInstrument,
  patchPaymentInstrument,
  paymentInstruments,
  paymentInstrumentWriter,
} from './operations/payment-instruments.ts'
import { paymentTokens, paymentTokenWriter, readPaymentToken } from './operations/payment-tokens.ts'
import { deletePlan, plans, planWriter } from './operations/plans.ts'
import { deleteProduct, products, productWriter } from './operations/products.ts'
import {
  newCredentialHash,
  patchServiceCredential,
  serviceCredentials,
  serviceCredentialWriter,
} from './operations/service-credentials.ts'
import { shippingRates, shippingRateWriter } from './operations/shipping-rates.ts'
import {
  deactivateStorefrontInstrument,
  getAccount,
  patchStorefrontInstrument,
  putAccount,
  storefrontAccount,
  storefrontInstrumentWriter,
  storefrontInvoices,
  storefrontOrders,
  storefrontPaymentInstruments,
  storefrontPlans,
  storefrontProducts,
  storefrontTransactions,
  storefrontWebsites,
} from './operations/storefront.ts'
import {
  changeTagOf,
  changeTagOfOne,
  deleteTag,
  getTag,
  patchTag,
  tags,
  tagWriter,
} from './operations/tags.ts'
import {
  creditMemoTimeline,
  customerTimeline,
  deleteComment,
  gatewayAccountTimeline,
  getEntry,
  invoiceTimeline,
  listTimeline,
  postComment,
  subscriptionTimeline,
  type Timeline,
  transactionTimeline,
} from './operations/timelines.ts'
import {
  patchTransaction,
  postRefund,
  postTransaction,
  queryTransaction,
  transactions,
} from './operations/transactions.ts'
import { events, resendWebhook, webhookTracking } from './operations/webhook-log.ts'
import {
  deleteWebhook,
  postRecovery,
  previewWebhook,
  webhooks,
  webhookWriter,
} from './operations/webhooks.ts'
import { deleteWebsite, websites, websiteWriter } from './operations/websites.ts'
import {
  expandQuerySchema,
  fieldsQuerySchema,
  filteredQuery,
  listQuerySchema,
  mergeQuery,
  pagedQuerySchema,
  pageQuery,
  readQuerySchema,
} from './query/query-parameters.ts'
import { create } from './resources/create.ts'
import { hasCustomFields } from './resources/custom-fields.ts'
import { remove } from './resources/delete.ts'
import { list } from './resources/list.ts'
import { readOne } from './resources/read.ts'
import type { Resource, ResourceRow, Writer } from './resources/resource.ts'
import { upsert } from './resources/upsert.ts'
import { AuthenticationOptions } from './schemas/authentication-options.ts'
import { AuthenticationToken, CustomerToken } from './schemas/authentication-token.ts'
import { CouponExpiration } from './schemas/coupon.ts'
import { CustomerCreditBalance } from './schemas/credit-memo.ts'
import { DigitalWalletValidation } from './schemas/digital-wallet.ts'
import { FastForward } from './schemas/fast-forward.ts'
import { GatewayAccountPatch } from './schemas/gateway-account.ts'
import { GatewayNotification, GatewayNotificationEvent } from './schemas/gateway-notification.ts'
import {
  InvoiceCreditMemoAllocation,
  InvoiceCreditMemoAllocationRequest,
  InvoiceIssue,
  InvoiceItem,
  InvoiceReissue,
  InvoiceTransaction,
  InvoiceTransactionAllocation,
  SubscriptionInvoice,
  UpcomingInvoice,
  UpcomingInvoiceIssue,
} from './schemas/invoice.ts'
import { CustomerLeadSource } from './schemas/lead-source.ts'
import { OrderPreview } from './schemas/order-preview.ts'
import { Organization } from './schemas/organization.ts'
import { PaymentInstrumentPatch } from './schemas/payment-instrument.ts'
import {
  StorefrontAccountBody,
  StorefrontPaymentInstrumentBody,
  StorefrontPaymentInstrumentPatchBody,
} from './schemas/storefront.ts'
import { SubscriptionChange, SubscriptionItem, SubscriptionItemPatch } from './schemas/subscription.ts'
import { SubscriptionCancellationPatch } from './schemas/subscription-actions.ts'
import { TagChange, TaggedCustomers } from './schemas/tag.ts'
import { TransactionQuery, TransactionRefund } from './schemas/transaction.ts'
import { WebhookRecovery } from './schemas/webhook-recovery.ts'

export interface Route {
  /** Also the permission that an access list names. */
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/organizations/{organizationId}`; with a leading slash, the credential names the organization. */
  readonly path: string
  readonly summary: string
  /** A secret key comes in `SVC-APIKEY`, a publishable one and a customer's token in `Authorization`. */
  readonly accepts: readonly KeyForm[]
  /** True if a secret key may come in `Authorization` too. */
  readonly secretInAuthorization?: boolean
  /** Its writable members are the body, its readable ones the response. */
  readonly resource: TSchema
  readonly takesBody: boolean
  /** Default: the resource's writable members. */
  readonly body?: TSchema
  readonly returns: 'one' | 'many' | 'nothing'
  readonly query?: TSchema
  /** Another media type of the response. */
  readonly alternative?: 'application/pdf'
  readonly success: 200 | 201 | 202 | 204
  /** True if it creates a resource, with `Location`. Such a PUT responds with 201 if it created one. */
  readonly creates?: boolean
  /** Schema of a 202 response, if the operation can take longer than a caller waits. */
  readonly accepted?: TSchema
  readonly sandboxOnly?: boolean
  /** What its method does not say, of rows that a function makes. Others have it in `openapi/descriptions.ts`. */
  readonly description?: string
  /** Whether a response has an `ETag`. Default: whether the resource has a revision. */
  readonly entityTag?: boolean
  /** False of a read with an `ETag` that is never 304, because it shows what changes without its revision. */
  readonly revalidated?: boolean
  /** Whether `If-Match` is checked. Default of PUT, PATCH and DELETE: whether there is an `ETag`; of POST: no. */
  readonly conditional?: boolean
  /** True if its query names another record, which has to exist (422). */
  readonly checksQuery?: boolean
  /** True if its body may be a credential, whose refusal is a 401 that counts against the rate limit. */
  readonly signsIn?: boolean
  /** True if it calls a gateway or a wallet, whose failure is 502. */
  readonly callsProvider?: boolean
  /** True if the handler also runs for a repetition: it continues the request, or checks the caller again. */
  readonly continues?: boolean
  /** True if the handler does something once outside of the request's own transaction: a mark holds the key. */
  readonly sendsOnce?: boolean
  /** With a signed handler, `accepts` is empty. */
  readonly handler: OperationHandler | SignedHandler
}

const SECRET = ['secret'] as const
const NO_QUERY = Type.Object({}, { additionalProperties: false })

export function fullPath({ path }: Pick<Route, 'path'>): string {
  if (isOfHost({ path })) return path
  return ['/organizations/{organizationId}', ...(path === '' ? [] : [path])].join('/')
}

export function isOfHost({ path }: Pick<Route, 'path'>): boolean {
  return path.startsWith('/')
}

export function routesOf(environment: Config['environment']): readonly Route[] {
  return ROUTES.filter(({ sandboxOnly = false }) => environment === 'sandbox' || !sandboxOnly)
}

export const ROUTES: readonly Route[] = [
  {
    operationId: 'GetOrganization',
    method: 'GET',
    path: '',
    summary: 'Retrieve the organization',
    accepts: SECRET,
    resource: Organization,
    takesBody: false,
    returns: 'one',
    success: 200,
    handler: getOrganization,
  },
  {
    operationId: 'PutOrganization',
    method: 'PUT',
    path: '',
    summary: 'Update the organization',
    accepts: SECRET,
    resource: Organization,
    takesBody: true,
    returns: 'one',
    success: 200,
    handler: putOrganization,
  },
  {
    operationId: 'PatchOrganization',
    method: 'PATCH',
    path: '',
    summary: 'Update some members of the organization',
    accepts: SECRET,
    resource: Organization,
    takesBody: true,
    returns: 'one',
    success: 200,
    handler: patchOrganization,
  },
  { ...getMany(organizations), summary: "List the caller's organization" },

  getMany(apiKeys, filteredQuery(apiKeys)),
  post(apiKeys, apiKeyWriter, 'api_key'),
  getOne(apiKeys),
  put(apiKeys, apiKeyWriter),
  { ...del(apiKeys), handler: deleteApiKey },

  getMany(disputes),
  post(disputes, disputeWriter, 'dp'),
  getOne(disputes),
  put(disputes, disputeWriter),

  getMany(paymentTokens, pageQuery),
  {
    ...post(paymentTokens, paymentTokenWriter, 'tok'),
    accepts: ['secret', 'publishable', 'customer'],
    secretInAuthorization: true,
  },
  {
    ...getOne(paymentTokens),
    path: 'tokens/{token}',
    accepts: ['secret', 'publishable'],
    secretInAuthorization: true,
    handler: readPaymentToken,
  },

  {
    operationId: 'PostDigitalWalletValidation',
    method: 'POST',
    path: 'digital-wallets/validation',
    summary: 'Validate a merchant with a digital wallet',
    accepts: ['secret', 'publishable', 'customer'],
    resource: DigitalWalletValidation,
    takesBody: true,
    returns: 'one',
    success: 201,
    callsProvider: true,
    handler: postDigitalWalletValidation,
  },

  {
    operationId: 'GetAuthenticationOptions',
    method: 'GET',
    path: 'authentication-options',
    summary: 'Retrieve the authentication options',
    accepts: SECRET,
    resource: AuthenticationOptions,
    takesBody: false,
    returns: 'one',
    success: 200,
    handler: getAuthenticationOptions,
  },
  {
    operationId: 'PutAuthenticationOptions',
    method: 'PUT',
    path: 'authentication-options',
    summary: 'Update the authentication options',
    accepts: SECRET,
    resource: AuthenticationOptions,
    takesBody: true,
    returns: 'one',
    success: 200,
    handler: putAuthenticationOptions,
  },

  getMany(authenticationTokens, pageQuery),
  {
    ...authenticationToken('POST', ''),
    signsIn: true,
    summary: 'Create an authentication token for a customer',
    accepts: ['secret', 'publishable'],
    takesBody: true,
    success: 201,
    continues: true,
    handler: postAuthenticationToken,
  },
  {
    ...authenticationToken('GET', '/{token}'),
    summary: 'Retrieve an authentication token',
    success: 200,
    handler: getAuthenticationToken,
  },
  {
    ...authenticationToken('DELETE', '/{token}'),
    summary: 'Revoke an authentication token and the customer JWTs issued from it',
    returns: 'nothing',
    success: 204,
    handler: deleteAuthenticationToken,
  },
  {
    ...authenticationToken('POST', '/{token}/exchange'),
    operationId: 'PostAuthenticationTokenExchange',
    summary: 'Exchange an authentication token for a customer JWT',
    accepts: ['secret', 'publishable'],
    resource: CustomerToken,
    takesBody: true,
    success: 201,
    handler: exchangeToken,
  },

  getMany(credentials, pageQuery),
  {
    ...getOne(credentials),
    ...action('PostCredential', 'POST', 'credentials', 'Create a credential'),
    takesBody: true,
    creates: true,
    query: expandQuerySchema(credentials),
    handler: postCredential,
  },
  getOne(credentials),
  {
    ...getOne(credentials),
    ...action('PutCredential', 'PUT', 'credentials/{id}', 'Create or update a credential'),
    takesBody: true,
    creates: true,
    query: expandQuerySchema(credentials),
    handler: putCredential,
  },
  { ...del(credentials), handler: deleteCredential },

  getMany(passwordTokens, pageQuery),
  {
    ...getOne(passwordTokens),
    ...action('PostPasswordToken', 'POST', 'password-tokens', 'Create a password token for a credential'),
    takesBody: true,
    query: expandQuerySchema(passwordTokens),
    entityTag: false,
    handler: postPasswordToken,
  },
  { ...getOne(passwordTokens), entityTag: false, handler: getPasswordToken },
  {
    ...del(passwordTokens),
    summary: 'Revoke a password token',
    entityTag: false,
    handler: deletePasswordToken,
  },

  getMany(paymentInstruments),
  { ...post(paymentInstruments, paymentInstrumentWriter, 'inst'), callsProvider: true },
  { ...getOne(paymentInstruments), revalidated: false },
  {
    ...getOne(paymentInstruments),
    ...action('PatchPaymentInstrument', 'PATCH', 'payment-instruments/{id}', 'Update a payment instrument'),
    takesBody: true,
    callsProvider: true,
    body: PaymentInstrumentPatch,
    handler: patchPaymentInstrument,
  },
  {
    ...getOne(paymentInstruments),
    ...action(
      'PostPaymentInstrumentDeactivation',
      'POST',
      'payment-instruments/{id}/deactivation',
      'Deactivate a payment instrument',
    ),
    conditional: true,
    handler: deactivateInstrument,
  },

  getMany(transactions),
  {
    operationId: 'PostTransaction',
    method: 'POST',
    path: transactions.path,
    summary: 'Create a sale, an authorization, a capture, a void or a refund, or record an external payment',
    accepts: SECRET,
    resource: transactions.schema,
    takesBody: true,
    returns: 'one',
    query: expandQuerySchema(transactions),
    success: 201,
    creates: true,
    callsProvider: true,
    handler: postTransaction,
    continues: true,
  },
  getOne(transactions),
  {
    ...getOne(transactions),
    ...action('PatchTransaction', 'PATCH', 'transactions/{id}', 'Update a transaction'),
    takesBody: true,
    handler: patchTransaction,
  },
  {
    ...getOne(transactions),
    ...action('PostTransactionRefund', 'POST', 'transactions/{id}/refund', 'Refund a sale or a capture'),
    takesBody: true,
    creates: true,
    body: TransactionRefund,
    query: expandQuerySchema(transactions),
    continues: true,
    callsProvider: true,
    handler: postRefund,
  },
  {
    ...getOne(transactions),
    ...action(
      'PostTransactionQuery',
      'POST',
      'transactions/{id}/query',
      'Ask the gateway for the outcome of a transaction',
    ),
    resource: TransactionQuery,
    query: NO_QUERY,
    callsProvider: true,
    handler: queryTransaction,
  },
  ...timelineOf(transactionTimeline),

  getMany(gatewayAccounts),
  {
    ...post(gatewayAccounts, gatewayAccountWriter, 'gwa'),
    callsProvider: true,
    handler: (context) => postGatewayAccount(context, () => newId('gwa')),
  },
  getOne(gatewayAccounts),
  { ...put(gatewayAccounts, gatewayAccountWriter), callsProvider: true, handler: putGatewayAccount },
  {
    ...getOne(gatewayAccounts),
    ...action('PatchGatewayAccount', 'PATCH', 'gateway-accounts/{id}', 'Change members of a gateway account'),
    takesBody: true,
    body: GatewayAccountPatch,
    callsProvider: true,
    handler: patchGatewayAccount,
  },
  { ...del(gatewayAccounts), handler: deleteGatewayAccount },
  gatewayAccountStatus('Enable', 'active', 'Enable a gateway account'),
  gatewayAccountStatus('Disable', 'inactive', 'Disable a gateway account'),
  gatewayAccountStatus('Close', 'closed', 'Close a gateway account for good'),
  {
    ...getOne(gatewayAccounts),
    ...action(
      'PostGatewayAccountCheckCredentials',
      'POST',
      'gateway-accounts/{id}/check-credentials',
      'Check the credentials of a gateway account',
    ),
    returns: 'nothing',
    success: 204,
    callsProvider: true,
    handler: checkCredentials,
  },
  ...timelineOf(gatewayAccountTimeline),
  {
    operationId: 'PostGatewayAccountNotification',
    method: 'POST',
    path: 'gateway-accounts/{id}/notifications',
    summary: 'Receive a signed event of the payment provider',
    accepts: [],
    resource: GatewayNotification,
    takesBody: true,
    body: GatewayNotificationEvent,
    returns: 'one',
    success: 200,
    handler: { signed: postNotification },
  },

  getMany(websites),
  post(websites, websiteWriter, 'web'),
  getOne(websites),
  put(websites, websiteWriter),
  { ...del(websites), handler: deleteWebsite },

  getMany(customers),
  { ...post(customers, customerWriter, 'cus'), callsProvider: true },
  getOne(customers),
  { ...put(customers, customerWriter), callsProvider: true },
  {
    ...del(customers),
    summary: 'Delete a customer, or merge it into another',
    query: mergeQuery,
    checksQuery: true,
    handler: deleteCustomer,
  },
  { ...leadSource('GET', 'Retrieve the lead source of a customer'), handler: getLeadSource },
  {
    ...leadSource('PUT', 'Set the lead source of a customer'),
    takesBody: true,
    creates: true,
    success: 201,
    handler: putLeadSource,
  },
  {
    ...leadSource('DELETE', 'Delete the lead source of a customer'),
    returns: 'nothing',
    success: 204,
    handler: deleteLeadSource,
  },
  ...timelineOf(customerTimeline),
  {
    ...getOne(customers),
    ...action(
      'GetCustomerCreditBalance',
      'GET',
      'customers/{id}/credit-balance',
      "Retrieve a customer's credit balance",
    ),
    resource: CustomerCreditBalance,
    query: NO_QUERY,
    handler: getCreditBalance,
  },

  getMany(tags),
  post(tags, tagWriter, 'tag'),
  { ...getOne(tags), path: 'tags/{tag}', handler: getTag },
  {
    ...getOne(tags),
    ...action('PatchTag', 'PATCH', 'tags/{tag}', 'Rename a tag'),
    takesBody: true,
    body: TagChange,
    query: expandQuerySchema(tags),
    handler: patchTag,
  },
  { ...del(tags), path: 'tags/{tag}', handler: deleteTag },
  taggedCustomers('POST', 'Tag customers'),
  taggedCustomers('DELETE', 'Untag customers'),
  taggedCustomer('POST', 'Tag a customer'),
  taggedCustomer('DELETE', 'Untag a customer'),

  {
    ...getMany(customFields, pageQuery),
    handler: (context) => listCustomFields(context, resourcesWithCustomFields()),
  },
  {
    ...getOne(customFields),
    path: `${customFields.path}/{name}`,
    handler: (context) => getCustomField(context, resourcesWithCustomFields()),
  },
  {
    ...getOne(customFields),
    ...action(
      'PutCustomField',
      'PUT',
      `${customFields.path}/{name}`,
      'Create or update the definition of a custom field',
    ),
    takesBody: true,
    creates: true,
    query: expandQuerySchema(customFields),
    handler: (context) => putCustomField(context, resourcesWithCustomFields()),
  },

  getMany(products),
  post(products, productWriter, 'prod'),
  getOne(products),
  put(products, productWriter),
  { ...del(products), handler: deleteProduct },

  getMany(shippingRates),
  post(shippingRates, shippingRateWriter, 'rate'),
  getOne(shippingRates),
  put(shippingRates, shippingRateWriter),
  del(shippingRates),

  getMany(plans),
  post(plans, planWriter, 'plan'),
  getOne(plans),
  put(plans, planWriter),
  { ...del(plans), handler: deletePlan },

  getMany(coupons),
  post(coupons, couponWriter, 'cpn'),
  getOne(coupons),
  put(coupons, couponWriter),
  { ...del(coupons), handler: deleteCoupon },
  {
    ...getOne(coupons),
    ...action('PostCouponExpiration', 'POST', 'coupons/{id}/expiration', 'Set when a coupon expires'),
    takesBody: true,
    body: CouponExpiration,
    query: expandQuerySchema(coupons),
    handler: postCouponExpiration,
  },
  getMany(couponRedemptions),
  { ...post(couponRedemptions, couponRedemptionWriter, 'red'), summary: 'Redeem a coupon' },
  getOne(couponRedemptions),
  {
    ...getOne(couponRedemptions),
    ...action(
      'PostCouponRedemptionCancellation',
      'POST',
      'coupons-redemptions/{id}/cancel',
      'Cancel a coupon redemption',
    ),
    query: expandQuerySchema(couponRedemptions),
    handler: postRedemptionCancellation,
  },

  getMany(webhooks),
  post(webhooks, webhookWriter, 'wh'),
  getOne(webhooks),
  put(webhooks, webhookWriter),
  { ...del(webhooks), handler: deleteWebhook },
  {
    operationId: 'PostWebhookRecovery',
    method: 'POST',
    path: `${webhooks.path}/{id}/recover`,
    summary: 'Resend the failed deliveries of a webhook',
    accepts: SECRET,
    resource: WebhookRecovery,
    takesBody: true,
    returns: 'one',
    success: 200,
    sendsOnce: true,
    handler: postRecovery,
  },

  {
    operationId: 'PostWebhookPreview',
    method: 'POST',
    path: 'previews/webhooks',
    summary: 'Send a sample event to a URL',
    accepts: SECRET,
    resource: webhooks.schema,
    takesBody: true,
    returns: 'nothing',
    success: 204,
    sendsOnce: true,
    handler: previewWebhook,
  },

  {
    operationId: 'PostOrderPreview',
    method: 'POST',
    path: 'previews/orders',
    summary: 'Preview what an order would cost',
    accepts: SECRET,
    resource: OrderPreview,
    takesBody: true,
    returns: 'one',
    success: 200,
    handler: previewOrderOf,
  },

  getMany(webhookTracking),
  getOne(webhookTracking),
  {
    operationId: 'PostWebhookTrackingResend',
    method: 'POST',
    path: `${webhookTracking.path}/{id}/resend`,
    summary: 'Resend a webhook delivery',
    accepts: SECRET,
    resource: webhookTracking.schema,
    takesBody: false,
    returns: 'nothing',
    success: 204,
    handler: resendWebhook,
  },

  getMany(apiTracking),
  getOne(apiTracking),

  getMany(events),
  { ...getOne(events), revalidated: false },

  getMany(serviceCredentials),
  post(serviceCredentials, serviceCredentialWriter, newCredentialHash),
  getOne(serviceCredentials),
  {
    operationId: 'PatchServiceCredential',
    method: 'PATCH',
    path: `${serviceCredentials.path}/{id}`,
    summary: 'Change the status of a service credential',
    accepts: SECRET,
    resource: serviceCredentials.schema,
    takesBody: true,
    returns: 'one',
    success: 200,
    handler: patchServiceCredential,
  },

  getMany(subscriptions),
  post(subscriptions, subscriptionWriter, 'sub'),
  getOne(subscriptions),
  put(subscriptions, subscriptionWriter),
  {
    ...del(subscriptions),
    summary: 'Delete a pending subscription without issued invoices',
    handler: deleteOrder,
  },
  {
    ...getOne(subscriptions),
    ...action(
      'PatchSubscriptionItem',
      'PATCH',
      'subscriptions/{id}/items/{itemId}',
      'Update members of an item of a subscription',
    ),
    resource: SubscriptionItem,
    takesBody: true,
    body: SubscriptionItemPatch,
    query: expandQuerySchema({}),
    entityTag: false,
    conditional: true,
    handler: patchItem,
  },
  {
    ...getOne(subscriptions),
    ...action(
      'PostSubscriptionChangeItems',
      'POST',
      'subscriptions/{id}/change-items',
      'Change the items of a subscription',
    ),
    takesBody: true,
    body: SubscriptionChange,
    query: expandQuerySchema(subscriptions),
    conditional: true,
    handler: postChangeItems,
  },
  {
    ...getOne(subscriptions),
    ...action('PostSubscriptionVoid', 'POST', 'subscriptions/{id}/void', 'Void a pending subscription'),
    handler: postVoid,
  },
  {
    ...getOne(subscriptions),
    ...action(
      'GetSubscriptionUpcomingInvoice',
      'GET',
      'subscriptions/{id}/upcoming-invoice',
      "Retrieve a subscription's upcoming invoice",
    ),
    resource: UpcomingInvoice,
    query: readQuerySchema(upcomingInvoices),
    entityTag: false,
    handler: getUpcomingInvoice,
  },
  {
    ...getOne(subscriptions),
    ...action(
      'GetSubscriptionUpcomingInvoiceCollection',
      'GET',
      'subscriptions/{id}/upcoming-invoices',
      "List a subscription's upcoming invoices",
    ),
    resource: UpcomingInvoice,
    returns: 'many',
    query: pagedQuerySchema(upcomingInvoices),
    handler: getUpcomingInvoices,
  },
  {
    ...getOne(subscriptions),
    ...action(
      'PostSubscriptionUpcomingInvoiceIssue',
      'POST',
      'subscriptions/{id}/upcoming-invoice/issue',
      "Issue a subscription's upcoming invoice now",
    ),
    resource: UpcomingInvoice,
    takesBody: true,
    creates: true,
    body: UpcomingInvoiceIssue,
    query: NO_QUERY,
    handler: postUpcomingInvoiceIssue,
  },
  {
    ...getOne(subscriptions),
    ...action(
      'PostSubscriptionUpcomingInvoicesIssue',
      'POST',
      'subscriptions/{id}/upcoming-invoices/{invoiceId}/issue',
      'Issue an upcoming invoice of a subscription now',
    ),
    resource: UpcomingInvoice,
    takesBody: true,
    creates: true,
    body: UpcomingInvoiceIssue,
    query: NO_QUERY,
    handler: postUpcomingInvoiceIssue,
  },
  {
    ...getOne(subscriptions),
    ...action(
      'PostSubscriptionInterimInvoice',
      'POST',
      'subscriptions/{id}/interim-invoice',
      'Invoice what is queued for the next invoice of a subscription',
    ),
    resource: invoices.schema,
    takesBody: true,
    creates: true,
    body: SubscriptionInvoice,
    query: NO_QUERY,
    handler: postInterimInvoice,
  },
  ...timelineOf(subscriptionTimeline),

  {
    operationId: 'PostSubscriptionFastForward',
    method: 'POST',
    path: 'subscriptions/{id}/fast-forward',
    summary: "Fast-forward a subscription's clock",
    accepts: SECRET,
    resource: subscriptions.schema,
    takesBody: true,
    body: FastForward,
    returns: 'one',
    success: 200,
    accepted: FastForward,
    sandboxOnly: true,
    continues: true,
    handler: postFastForward,
  },
  {
    operationId: 'GetSubscriptionFastForward',
    method: 'GET',
    path: 'subscriptions/{id}/fast-forward/{fastForwardId}',
    summary: 'Retrieve a fast-forward of a subscription',
    accepts: SECRET,
    resource: FastForward,
    takesBody: false,
    returns: 'one',
    success: 200,
    entityTag: false,
    sandboxOnly: true,
    handler: getFastForward,
  },

  getMany(cancellations),
  post(cancellations, cancellationWriter, 'cancel'),
  getOne(cancellations),
  put(cancellations, cancellationWriter),
  {
    ...getOne(cancellations),
    ...action(
      'PatchSubscriptionCancellation',
      'PATCH',
      'subscription-cancellations/{id}',
      'Update members of a subscription cancellation',
    ),
    takesBody: true,
    body: SubscriptionCancellationPatch,
    query: expandQuerySchema(cancellations),
    handler: patchCancellation,
  },
  {
    ...del(cancellations),
    summary: 'Revoke a subscription cancellation before its churn time',
    handler: deleteCancellation,
  },

  getMany(pauses),
  post(pauses, pauseWriter, 'pause'),
  getOne(pauses),
  put(pauses, pauseWriter),
  {
    ...del(pauses),
    summary: 'End a pause, or revoke a pending one',
    handler: deletePause,
  },

  getMany(reactivations),
  post(reactivations, reactivationWriter, 'react'),
  getOne(reactivations),

  getMany(invoices),
  post(invoices, invoiceWriter, 'in'),
  put(invoices, invoiceWriter),
  { ...getOne(invoices), ...invoiceDocument(invoices) },
  {
    ...getOne(invoices),
    ...action('PostInvoiceVoid', 'POST', 'invoices/{id}/void', 'Void an unpaid invoice'),
    handler: postInvoiceVoid,
  },
  {
    ...getOne(invoices),
    ...action('PostInvoiceIssue', 'POST', 'invoices/{id}/issue', 'Issue a draft invoice'),
    takesBody: true,
    body: InvoiceIssue,
    handler: postInvoiceIssue,
  },
  {
    ...getOne(invoices),
    ...action(
      'PostInvoiceRecalculation',
      'POST',
      'invoices/{id}/recalculate',
      'Recalculate the amounts of a draft invoice',
    ),
    handler: postInvoiceRecalculation,
  },
  {
    ...getOne(invoices),
    ...action(
      'PostInvoiceTransaction',
      'POST',
      'invoices/{id}/transaction',
      'Apply a transaction to an unpaid invoice',
    ),
    takesBody: true,
    body: InvoiceTransaction,
    success: 200,
    handler: postInvoiceTransaction,
  },
  {
    ...getOne(invoices),
    ...action('PostInvoiceAbandon', 'POST', 'invoices/{id}/abandon', 'Abandon an unpaid invoice'),
    handler: postInvoiceAbandon,
  },
  {
    ...getOne(invoices),
    ...action('PostInvoiceReissue', 'POST', 'invoices/{id}/reissue', 'Reissue an unpaid invoice'),
    takesBody: true,
    body: InvoiceReissue,
    handler: postInvoiceReissue,
  },
  {
    ...getOne(invoices),
    ...action('GetInvoiceItemCollection', 'GET', 'invoices/{id}/items', "List an invoice's items"),
    resource: InvoiceItem,
    returns: 'many',
    query: pagedQuerySchema(invoiceItems),
    handler: getInvoiceItems,
  },
  {
    ...getOne(invoices),
    ...action('PostInvoiceItem', 'POST', 'invoices/{id}/items', 'Add an item to a draft invoice'),
    resource: InvoiceItem,
    takesBody: true,
    creates: true,
    query: NO_QUERY,
    handler: postInvoiceItem,
  },
  {
    ...getOne(invoices),
    ...action('PutInvoiceItem', 'PUT', 'invoices/{id}/items/{itemId}', 'Update an item of a draft invoice'),
    resource: InvoiceItem,
    takesBody: true,
    query: NO_QUERY,
    handler: putInvoiceItem,
  },
  {
    ...getOne(invoices),
    ...action(
      'DeleteInvoiceItem',
      'DELETE',
      'invoices/{id}/items/{itemId}',
      'Delete an item of a draft invoice',
    ),
    resource: InvoiceItem,
    returns: 'nothing',
    success: 204,
    query: NO_QUERY,
    handler: deleteInvoiceItem,
  },
  {
    ...getOne(invoices),
    ...action('GetInvoiceItem', 'GET', 'invoices/{id}/items/{itemId}', 'Retrieve an item of an invoice'),
    resource: InvoiceItem,
    query: readQuerySchema(invoiceItems),
    handler: getInvoiceItem,
  },
  {
    ...getOne(invoices),
    ...action(
      'GetInvoiceTransactionAllocationCollection',
      'GET',
      'invoices/{id}/transaction-allocations',
      'List what transactions have paid of an invoice',
    ),
    resource: InvoiceTransactionAllocation,
    returns: 'many',
    query: pageQuery,
    handler: getTransactionAllocations,
  },
  ...timelineOf(invoiceTimeline),
  {
    ...getOne(invoices),
    ...action(
      'PostInvoiceCreditBalanceAllocation',
      'POST',
      'invoices/{id}/allocate-credit-balance',
      "Apply the customer's credit balance to an unpaid invoice",
    ),
    resource: InvoiceCreditMemoAllocation,
    takesBody: true,
    body: InvoiceCreditMemoAllocationRequest,
    query: NO_QUERY,
    success: 200,
    handler: postCreditAllocation,
  },

  getMany(creditMemos),
  post(creditMemos, creditMemoWriter, 'cm'),
  getOne(creditMemos),
  put(creditMemos, creditMemoWriter),
  {
    ...getOne(creditMemos),
    ...action('PatchCreditMemo', 'PATCH', 'credit-memos/{id}', 'Update members of a credit memo'),
    takesBody: true,
    handler: patchCreditMemo,
  },
  {
    ...getOne(creditMemos),
    ...action(
      'PostCreditMemoRefund',
      'POST',
      'credit-memos/{id}/refund',
      'Refund the unused amount of a credit memo',
    ),
    success: 200,
    handler: postCreditMemoRefund,
  },
  {
    ...getOne(creditMemos),
    ...action('PostCreditMemoVoid', 'POST', 'credit-memos/{id}/void', 'Void an unused credit memo'),
    handler: postCreditMemoVoid,
  },
  ...timelineOf(creditMemoTimeline),

  inStorefront({ ...getOne(storefrontAccount), path: storefrontAccount.path, handler: getAccount }),
  inStorefront({
    ...getOne(storefrontAccount),
    ...action('PutAccount', 'PUT', storefrontAccount.path, 'Update an account'),
    takesBody: true,
    body: StorefrontAccountBody,
    query: expandQuerySchema(storefrontAccount),
    handler: putAccount,
  }),
  inStorefront(getMany(storefrontOrders)),
  inStorefront(getOne(storefrontOrders)),
  inStorefront(getMany(storefrontInvoices)),
  inStorefront({ ...getOne(storefrontInvoices), ...invoiceDocument(storefrontInvoices) }),
  inStorefront(getMany(storefrontPaymentInstruments)),
  inStorefront({
    ...post(storefrontPaymentInstruments, storefrontInstrumentWriter, 'inst'),
    body: StorefrontPaymentInstrumentBody,
    callsProvider: true,
  }),
  inStorefront({ ...getOne(storefrontPaymentInstruments), revalidated: false }),
  inStorefront({
    ...getOne(storefrontPaymentInstruments),
    ...action(
      'PatchPaymentInstrument',
      'PATCH',
      'storefront/payment-instruments/{id}',
      'Update a payment instrument',
    ),
    takesBody: true,
    callsProvider: true,
    body: StorefrontPaymentInstrumentPatchBody,
    handler: patchStorefrontInstrument,
  }),
  inStorefront({
    ...getOne(storefrontPaymentInstruments),
    ...action(
      'PostPaymentInstrumentDeactivation',
      'POST',
      'storefront/payment-instruments/{id}/deactivation',
      'Deactivate a payment instrument',
    ),
    conditional: true,
    handler: deactivateStorefrontInstrument,
  }),
  inStorefront(getMany(storefrontTransactions)),
  inStorefront(getOne(storefrontTransactions)),
  inStorefront(getMany(storefrontPlans)),
  inStorefront(getOne(storefrontPlans)),
  inStorefront(getMany(storefrontProducts)),
  inStorefront(getOne(storefrontProducts)),
  inStorefront(getMany(storefrontWebsites)),
  inStorefront(getOne(storefrontWebsites)),
]

function gatewayAccountStatus(
  verb: 'Enable' | 'Disable' | 'Close',
  status: GatewayAccountStatus,
  summary: string,
): Route {
  const path = `gateway-accounts/{id}/${verb.toLowerCase()}`
  return {
    ...getOne(gatewayAccounts),
    ...action(`PostGatewayAccount${verb}`, 'POST', path, summary),
    conditional: true,
    handler: (context) => changeStatus(context, status),
  }
}

export function resourcesWithCustomFields(): string[] {
  return [
    ...new Set(
      ROUTES.flatMap(({ method, path, resource }) =>
        method === 'GET' &&
        !path.includes('{') &&
        !path.includes('/') &&
        hasCustomFields({ schema: resource })
          ? [path]
          : [],
      ),
    ),
  ]
}

function timelineOf(timeline: Timeline): Route[] {
  const { resource, label, comment } = timeline
  const one = { ...getOne(resource), path: `${resource.path}/{messageId}` }
  return [
    {
      ...getMany(resource),
      summary: `List the timeline of ${withArticle(label)}`,
      description: 'Entries of the service, and comments, newest first.',
      handler: (context) => listTimeline(context, timeline),
    },
    {
      ...one,
      ...action(
        `Post${resource.name}`,
        'POST',
        resource.path,
        `Add a comment to the timeline of ${withArticle(label)}`,
      ),
      description: "Adds a comment at the present of the record's clock.",
      takesBody: true,
      creates: true,
      body: comment,
      query: expandQuerySchema(resource),
      handler: (context) => postComment(context, timeline),
    },
    {
      ...one,
      summary: `Retrieve an entry of the timeline of ${withArticle(label)}`,
      handler: (context) => getEntry(context, timeline),
    },
    {
      ...del(resource),
      path: one.path,
      summary: `Delete a comment from the timeline of ${withArticle(label)}`,
      description: 'Only comments can be deleted (409).',
      handler: (context) => deleteComment(context, timeline),
    },
  ]
}

function leadSource(method: 'GET' | 'PUT' | 'DELETE', summary: string) {
  return {
    ...action(
      `${method.charAt(0)}${method.slice(1).toLowerCase()}CustomerLeadSource`,
      method,
      'customers/{id}/lead-source',
      summary,
    ),
    accepts: SECRET,
    resource: CustomerLeadSource,
    entityTag: true,
    takesBody: false,
    returns: 'one',
    ...(method === 'GET' ? { query: fieldsQuerySchema } : {}),
  } as const
}

function taggedCustomers(method: 'POST' | 'DELETE', summary: string): Route {
  return {
    operationId: `${method === 'POST' ? 'Post' : 'Delete'}TagCustomerCollection`,
    method,
    path: 'tags/{tag}/customers',
    summary,
    accepts: SECRET,
    resource: tags.schema,
    takesBody: true,
    body: TaggedCustomers,
    returns: 'nothing',
    success: 204,
    conditional: false,
    handler: changeTagOf(method === 'POST'),
  }
}

function taggedCustomer(method: 'POST' | 'DELETE', summary: string): Route {
  return {
    ...taggedCustomers(method, summary),
    operationId: `${method === 'POST' ? 'Post' : 'Delete'}TagCustomer`,
    path: 'tags/{tag}/customers/{customerId}',
    takesBody: false,
    handler: changeTagOfOne(method === 'POST'),
  }
}

function authenticationToken(method: 'GET' | 'POST' | 'DELETE', below: string) {
  return {
    operationId: `${method.charAt(0)}${method.slice(1).toLowerCase()}AuthenticationToken`,
    method,
    path: `authentication-tokens${below}`,
    accepts: SECRET,
    resource: AuthenticationToken,
    entityTag: false,
    takesBody: false,
    returns: 'one',
  } as const
}

function invoiceDocument(resource: typeof invoices): Pick<Route, 'alternative' | 'handler'> {
  return { alternative: 'application/pdf', handler: (context) => getInvoice(context, resource) }
}

/** For customers alone, with a permission of its own. */
function inStorefront(route: Route): Route {
  return {
    ...route,
    operationId: `Storefront${route.operationId}`,
    summary: `${route.summary} in the storefront`,
    accepts: ['customer'],
  }
}

function action(operationId: string, method: Route['method'], path: string, summary: string) {
  return { operationId, method, path, summary, success: method === 'POST' ? 201 : 200 } as const
}

function getMany<Row extends ResourceRow>(resource: Resource<Row>, query = listQuerySchema(resource)): Route {
  return {
    operationId: `Get${resource.name}Collection`,
    method: 'GET',
    path: resource.path,
    summary: `List ${resource.label}s`,
    accepts: SECRET,
    resource: resource.schema,
    takesBody: false,
    returns: 'many',
    query,
    success: 200,
    handler: (context) => list(context, resource),
  }
}

function post<Row extends ResourceRow, Body>(
  resource: Resource<Row>,
  writer: Pick<Writer<Row, Body>, 'before' | 'create' | 'checksCustomFields'>,
  id: IdPrefix | (() => string),
): Route {
  return {
    operationId: `Post${resource.name}`,
    method: 'POST',
    path: resource.path,
    summary: `Create ${withArticle(resource.label)}`,
    accepts: SECRET,
    resource: resource.schema,
    takesBody: true,
    returns: 'one',
    query: expandQuerySchema(resource),
    success: 201,
    creates: true,
    handler: (context) => create(context, resource, writer, typeof id === 'string' ? () => newId(id) : id),
  }
}

function withArticle(noun: string): string {
  return /^[aeio]/i.test(noun) ? `an ${noun}` : `a ${noun}`
}

function getOne<Row extends ResourceRow>(resource: Resource<Row>): Route {
  return {
    operationId: `Get${resource.name}`,
    method: 'GET',
    path: `${resource.path}/{id}`,
    summary: `Retrieve ${withArticle(resource.label)}`,
    accepts: SECRET,
    resource: resource.schema,
    takesBody: false,
    returns: 'one',
    query: readQuerySchema(resource),
    success: 200,
    handler: (context) => readOne(context, resource),
  }
}

function put<Row extends ResourceRow, Body>(resource: Resource<Row>, writer: Writer<Row, Body>): Route {
  return {
    operationId: `Put${resource.name}`,
    method: 'PUT',
    path: `${resource.path}/{id}`,
    summary: `Create or update ${withArticle(resource.label)}`,
    accepts: SECRET,
    resource: resource.schema,
    takesBody: true,
    returns: 'one',
    query: expandQuerySchema(resource),
    success: 200,
    creates: true,
    handler: (context) => upsert(context, resource, writer),
  }
}

function del<Row extends ResourceRow>(resource: Resource<Row>): Route {
  return {
    operationId: `Delete${resource.name}`,
    method: 'DELETE',
    path: `${resource.path}/{id}`,
    summary: `Delete ${withArticle(resource.label)}`,
    accepts: SECRET,
    resource: resource.schema,
    takesBody: false,
    returns: 'nothing',
    success: 204,
    handler: (context) => remove(context, resource),
  }
}
