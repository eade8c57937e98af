import type { KeyForm } from '../http/authentication.ts'
import { KEY_HEADER } from '../http/authentication.ts'
import { PROBLEMS } from '../http/problems.ts'
import type { Route } from '../routes.ts'
import { isConditional, isRevalidated, isSigned, isUpsert } from './parameters.ts'

export function introduction(environment: string, baseUrl: string): string {
  return `Customers, orders, invoices and payments of a merchant, and signed webhooks for what happens to them. This is the ${environment} environment.

## Authentication
Servers send a secret key in \`${KEY_HEADER}\`. Browsers send a publishable key, or the JWT of a customer as \`Bearer\`, in \`Authorization\`. Each operation lists the credentials that it accepts, and its \`operationId\` is the name of the permission that an access list grants.

## Values
Instants are ISO 8601 with an offset, and are returned in UTC with milliseconds. Durations are ISO 8601, such as \`P3D\`. Amounts are numbers in the currency's unit, with no more decimals than the currency has.

Times are between the years 1970 and 9999, and numbers are those that a double-precision number keeps: what would come back differently is refused.

A body accepts null for every optional member: null clears it, or returns it to its default where it has no null of its own. Read-only members, \`_links\` and \`_embedded\` of a response are accepted and ignored, so that a response can be sent back. Any other unknown member is refused with 422. Members that are not supported yet are described as such: a body may contain them with an empty value, and responses always contain that value. Clients have to tolerate new members in responses.

## Lists
\`limit\` and \`offset\` choose the page; \`Pagination-Total\` counts the items of all pages, and \`Link\` leads to other pages. Lists are newest first unless \`sort\` is given. To read beyond an offset of 1000, filter by \`createdTime\`.

## Revisions
Each change of a resource increments its \`revision\`, which is also its \`ETag\`. \`If-Match\` carries out a request only for a known revision, and \`If-None-Match\` reads only what has changed.

## Repeated requests
A POST with an \`Idempotency-Key\` can be repeated: its response is stored for 24 hours. Repeat it with the same permissions and allowed addresses: after a change of the API key's \`acl\` or \`allowedIps\` it is 422.

## Errors
Errors are problem documents (RFC 9457). Switch on \`code\`; \`type\` is the URL of an explanation. \`invalidFields\` lists what is wrong with a body or a query, each with a \`code\` of its own and a JSON Pointer. Besides the listed ones, an unknown path is 404, an unsupported method 405, and a request that is not valid HTTP is refused as such.

| Code | Status |
|---|---|
${Object.entries(PROBLEMS)
  .map(([code, { status }]) => `| [${code}](${baseUrl}/problems/${code}) | ${status} |`)
  .join('\n')}`
}

const FORMS: Readonly<Record<KeyForm, string>> = {
  secret: 'a secret key',
  publishable: 'a publishable key',
  customer: 'a customer JWT',
}

/** `canPut`: whether the same resource can be created under an id of the caller's. */
export function descriptionOf(route: Route, canPut: boolean): string {
  const { accepts, operationId, description, secretInAuthorization = false } = route
  const forms = isSigned(route)
    ? ['the signature of the payment provider in place of a credential']
    : accepts.map((form) => FORMS[form])
  const accepted = forms.length === 1 ? forms[0] : `${forms.slice(0, -1).join(', ')} or ${forms.at(-1)}`
  return [
    OWN[operationId] ?? description,
    meaning(route, canPut),
    `Accepts ${accepted}.${secretInAuthorization ? ' The secret key may come in `Authorization` as well.' : ''}`,
  ]
    .filter((text) => text !== undefined && text !== '')
    .join('\n\n')
}

function meaning(route: Route, canPut: boolean): string {
  const { method, returns, creates = false, takesBody } = route
  switch (method) {
    case 'GET':
      if (returns === 'many') return 'Returns one page. `Pagination-Total` counts the items of all pages.'
      return isRevalidated(route)
        ? 'Returns 304 if the resource still has an entity tag of `If-None-Match`.'
        : ''
    case 'PUT':
      return [
        'Replaces the writable members: an optional member that is missing returns to its default, and null clears it. Read-only members are ignored, so that a response can be sent back unchanged.',
        isUpsert(route) ? 'If no resource has the id, it is created under it (201).' : '',
        isConditional(route) ? 'A request that changes nothing keeps the revision.' : '',
      ]
        .filter((text) => text !== '')
        .join(' ')
    case 'PATCH':
      return 'Changes the members that the body has, and no others.'
    case 'DELETE':
      return ''
    case 'POST':
      if (!takesBody || !creates) return ''
      return canPut ? 'The id is generated; use PUT to choose one.' : 'The id is generated.'
  }
}

const OWN: Readonly<Record<string, string>> = {
  PutOrganization: 'Settings apply to all orders from the next event on.',
  PatchOrganization: 'Members of `settings` that are missing keep their values too.',
  GetOrganizationCollection:
    'The list has one item, the organization of the credential: for a caller that knows its key and not its organization.',
  PutApiKey:
    'A key cannot have more permissions than the key that creates or updates it. Here, a missing `acl` or `allowedIps` leaves the stored value, and null removes it.',
  DeleteApiKey: 'The last unrestricted secret key cannot be deleted (409).',
  PostToken:
    'Send it from the browser, so that the card number never reaches your server. The token can be used once, within 30 minutes.',
  GetToken: 'A publishable key does not see personal data and risk.',
  PostDigitalWalletValidation:
    'Call it from the `onvalidatemerchant` handler of the page, and pass `validationResponse` to the wallet. No resource is created.',
  PostAuthenticationToken:
    'Your server calls it for a customer whom it has authenticated, and hands the token to the browser.',
  PostAuthenticationTokenExchange:
    'The browser exchanges the token for a JWT with the permissions of `acl`, which cannot exceed those of the credential.',
  PutAuthenticationOptions:
    'New passwords have to match `passwordPattern`; those that are stored remain valid.',
  PostCredential: 'The password is stored as a hash and never returned.',
  PutCredential:
    "A missing `password` or `expiredTime` stays as it is. A new password ends the credential's password tokens and the customer's authentication tokens; the same password ends the password tokens alone.",
  DeleteCredential: "Its password tokens and the customer's authentication tokens end.",
  PostPasswordToken:
    'Your server mails a link with the token to a customer who has forgotten the password. The service sends no mail.',
  GetPasswordToken: 'The response is 404 after the token has expired or a password was set.',
  PostPaymentInstrument: 'The payment token is consumed.',
  PatchPaymentInstrument:
    'The number of a card cannot be changed: create another payment instrument. A new expiry is sent to the payment provider first: if that does not respond, the response is 502 and nothing changes.',
  PostPaymentInstrumentDeactivation:
    'A deactivated payment instrument is never charged again. The response is 409 if it is deactivated already.',
  PostTransaction:
    'The response has the outcome: `approved`, `declined`, or `unknown` while the gateway has not answered. A repetition under an `Idempotency-Key` continues the same transaction and moves no money twice. Use the test cards of the README in the sandbox.',
  PatchTransaction: 'Only `description` and `customFields` can be changed.',
  PostTransactionRefund:
    'The response is the refund, a transaction of its own. Only an approved sale or capture can be refunded (409), up to its refundable amount (422). Its custom fields have their defaults.',
  PostTransactionQuery:
    'The outcome is recorded if the transaction waits for it. A request that the gateway never received is `never-sent` once it can no longer be sent. The response is 502 if the gateway does not respond.',
  PostGatewayAccount: 'The provider is asked whether it accepts the credentials (422 if it does not).',
  PutGatewayAccount: 'Missing `credentials` stay as they are; the provider is asked about new ones.',
  PatchGatewayAccount: 'The provider is asked about new credentials (422 if it does not accept them).',
  DeleteGatewayAccount:
    'An account with payment instruments or transactions cannot be deleted (409): close it instead.',
  PostGatewayAccountEnable:
    'New cards are stored with enabled accounts. A closed account stays closed (409).',
  PostGatewayAccountDisable:
    'New cards are not stored with a disabled account. A closed account stays closed (409).',
  PostGatewayAccountClose: 'Closing an account is final.',
  PostGatewayAccountCheckCredentials:
    'Asks the provider whether it accepts the stored credentials: 204 if it does, 422 if it does not.',
  PostGatewayAccountNotification:
    'The URL for the webhook at the payment provider, whose signing secret is `credentials.webhookSecret` of the account. Events are stored before the response, and processed once: outcomes of charges and refunds, disputes, refunds made at the provider, and cards that a bank has renewed. A signature that is wrong or older than five minutes is 400. An account without a `webhookSecret` is 409.',
  DeleteCustomer:
    'A customer with orders, invoices, credit memos, coupon redemptions, transactions or payment instruments cannot be deleted (409), unless `targetCustomerId` names a customer that takes over all records.',
  GetCustomerLeadSource: 'The response is 404 if the customer has none. `original` is the first one.',
  PutCustomerLeadSource: 'The response is 201, whether or not the customer had a lead source.',
  PatchTag: 'Customers keep the tag under its new name. Their revisions rise, and no event is emitted.',
  DeleteTag:
    'The tag is taken from every customer that has it. Their revisions rise, and no event is emitted: untag customers first to receive `customer-updated` for each.',
  PostTagCustomerCollection: 'All of the customers are tagged, or none if one does not exist (422).',
  DeleteTagCustomerCollection: 'All of the customers are untagged, or none if one does not exist (422).',
  PostTagCustomer: 'A customer who has the tag keeps it.',
  DeleteTagCustomer: 'The response is 204 too if the customer does not have the tag.',
  PutCustomField:
    'Values are validated when records are written; those that are stored stay. The type cannot be changed (409).',
  DeletePlan: 'A plan that an order refers to, even an ended one, cannot be deleted (409).',
  DeleteProduct: 'A product that a plan refers to cannot be deleted (409).',
  DeleteWebsite: 'A website that other resources refer to cannot be deleted (409).',
  PutPlan: 'Orders keep a plan as it was when they were priced.',
  DeleteWebhook: 'Deliveries that wait are canceled, and stay listed.',
  PostWebhook: 'An organization can have 25 active webhooks.',
  PostWebhookPreview:
    'Sends one signed sample of the first type of `eventsFilter`, once. The response is 422, with the reason, if the receiver does not accept it.',
  PostWebhookTrackingResend: 'Makes another attempt immediately, beside the schedule.',
  GetEventCollection:
    'Read on from the last known event with `sort=position&filter=position:{last}..`, which includes it.',
  GetApiTrackingCollection:
    'Requests are listed for 30 days, without keys, passwords and card numbers. Those without a valid credential are not listed.',
  GetApiTracking: 'The id is the `Request-Id` of the request.',
  PostServiceCredential: 'Webhooks refer to the credential by its `hash`. The password is never returned.',
  PatchServiceCredential: 'An inactive credential is not sent.',
  PostSubscription:
    'The order is `pending` until its start time. Then its initial invoice is issued and, with `autopay` and a usable payment instrument, charged.',
  PutSubscription:
    'What can change depends on the state of the order. `startTime`, `trial`, `isTrialOnly`, `recurringInterval` and `abandonTime` stay as they are if they are missing. `renewalTime` moves the next boundary.',
  DeleteSubscription: 'An order with an issued invoice, or that was ever due, cannot be deleted (409).',
  PatchSubscriptionItem: 'Items are added and removed by a PUT of the order.',
  GetSubscriptionUpcomingInvoiceCollection:
    'The list has one item, or none if the order has no next invoice.',
  PostOrderPreview: 'The order would begin now. Nothing is saved.',
  PostSubscriptionChangeItems:
    'The order has to be pending or in service. A credit waits in `lineItems` for the next invoice; what is owed is invoiced and charged at once. Without proration, one-time sales wait for the next invoice too, and are invoiced at once where none follows. With it, an invoice of the coming period that is issued already is voided and issued again at the new prices, and a paid one is refunded; the response is 409 while one is paid outside of the service.',
  PostSubscriptionVoid: 'Only a pending order can be voided (409). Cancel an order in service instead.',
  GetSubscriptionUpcomingInvoice: 'The response is 404 if the order has no next invoice.',
  PostSubscriptionFastForward:
    "Everything that is due until the new time happens in order, with its events. An order's clock never goes back. The response is 202 if it takes longer than ten seconds.",
  PostWebhookRecovery:
    'Each delivery that failed since then gets one attempt more, at once, whenever it was created; the schedule of those that are retried goes on beside it.',
  PostSubscriptionCancellation:
    'The service ends at `churnTime`, or as `churnTimePolicy` says; with neither, or at a time that has passed, it ends immediately. Until it ends, a reactivation undoes the cancellation. A draft cancels nothing until it is confirmed.',
  PatchSubscriptionCancellation: 'A canceled order keeps what the body does not name.',
  DeleteSubscriptionCancellation: 'The order goes on. A cancellation that has ended the service stays (409).',
  PutSubscriptionPause:
    'A pause that has not begun can be changed as a whole. Once it has begun, its start is fixed (409); once it has ended, only `pausedBy` and `description` can be changed.',
  DeleteSubscriptionPause: 'An ongoing pause ends and the order resumes; a pending one is revoked.',
  PostSubscriptionReactivation: 'Only a canceled or churned order can be reactivated.',
  PostSubscriptionUpcomingInvoiceIssue:
    'The invoice of the next period is issued before its time, and charged when the period begins. An order that is billed at the end of each period has none (409).',
  PostSubscriptionUpcomingInvoicesIssue:
    "The path names one of the order's upcoming invoices. It is issued before its time, and charged when its period begins. One that has been issued or has changed places with another is not found (404).",
  PostSubscriptionInterimInvoice:
    'The invoice has what `lineItems` of the order hold, and is charged at once. Credits are used as far as it can bear them. What still waits when service has ended can be invoiced too. If no charge is queued, or the order is paused, 409.',
  PostCreditMemoRefund:
    'What no invoice uses goes back by refunds of sales to the customer: those for its invoice first, then the newest, and those with an open dispute last. What a bank took back is not refunded. If they do not come to it, 409. A refund that is declined returns its amount to the credit memo.',
  PatchCreditMemo: 'Amounts can be changed only while no invoice uses the credit memo.',
  PostInvoice: 'The invoice is a draft of your own, without an order. Issue it to make it due.',
  PutInvoice:
    'Only a draft of your own can be changed (409); what is read of any invoice can be sent back. Items that are missing are removed.',
  PostInvoiceItem: 'Only a draft of your own can be changed (409).',
  PutInvoiceItem: 'Only a draft of your own can be changed (409).',
  DeleteInvoiceItem: 'Only a draft of your own can be changed (409).',
  PostInvoiceIssue:
    'The invoice gets its number and its parties, and uses the credit balance of the customer. Only a draft of your own with items can be issued (409).',
  PostInvoiceRecalculation: 'Only a draft of your own can be recalculated (409).',
  PostInvoiceTransaction:
    'An approved sale or capture of the customer pays the invoice with what no other invoice uses of it, and what was not refunded. The rest of it stays to be applied or refunded. It pays at most 100 invoices (409).',
  PostInvoiceVoid:
    'Only an unpaid or past-due invoice can be voided. Its period is not invoiced again, whether it has begun or not.',
  PostInvoiceAbandon:
    'The invoice is never charged or past due, and its order goes on. Its period is not invoiced again, whether it has begun or not.',
  GetInvoiceTransactionAllocationCollection: 'Approved sales and captures, oldest first.',
  StorefrontPutAccount:
    'Changes the e-mail address, names, address and default card of the customer. Grant it only to browsers that may redirect mail.',
  StorefrontPostPaymentInstrument: 'Adds a card of the customer. The payment token is consumed.',
  StorefrontPatchPaymentInstrument:
    'Customers change the expiry and the billing address of their own cards. A new expiry is sent to the payment provider first: if that does not respond, the response is 502 and nothing changes.',
  StorefrontPostPaymentInstrumentDeactivation:
    'A deactivated card is never charged again. The response is 409 if it is deactivated already.',
  StorefrontGetInvoiceCollection: 'Drafts are not shown.',
  StorefrontGetPlanCollection: 'Plans on offer, and those that the customer has ordered.',
}
