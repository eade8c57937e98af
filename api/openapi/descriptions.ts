/** Texts of the document: its introduction, and what each operation does. */
import type { KeyForm } from '../http/authentication.ts'
import { KEY_HEADER } from '../http/authentication.ts'
import { PROBLEMS } from '../http/problems.ts'
import type { Route } from '../routes.ts'
import { hasEntityTag } from './parameters.ts'

/** Returns the introduction of the document. */
export function introduction(environment: string, baseUrl: string): string {
  return `Customers, orders, invoices and payments of a merchant, and signed webhooks for what happens to them. This is the ${environment} environment.

## Authentication
Servers send a secret key in \`${KEY_HEADER}\`. Browsers send a publishable key, or the JWT of a customer as \`Bearer\`, in \`Authorization\`. Each operation lists the credentials that it accepts, and its \`operationId\` is the name of the permission that an access list grants.

## Values
Instants are ISO 8601 with an offset, and are returned in UTC with milliseconds. Durations are ISO 8601, such as \`P3D\`. Amounts are numbers in the currency's unit, with no more decimals than the currency has.

A body accepts null for every optional member: null clears it, or returns it to its default where it has no null of its own. Read-only members, \`_links\` and \`_embedded\` of a response are accepted and ignored, so that a response can be sent back. Any other unknown member is refused with 422. Members that are not supported yet are described as such: a body may contain them with an empty value, and responses always contain that value. Clients have to tolerate new members in responses.

## Lists
\`limit\` and \`offset\` choose the page; \`Pagination-Total\` counts the items of all pages, and \`Link\` leads to other pages. Lists are newest first unless \`sort\` is given. To read beyond an offset of 1000, filter by \`createdTime\`.

## Revisions
Each change of a resource increments its \`revision\`, which is also its \`ETag\`. \`If-Match\` carries out a request only for a known revision, and \`If-None-Match\` reads only what has changed.

## Repeated requests
A POST with an \`Idempotency-Key\` can be repeated: its response is stored for 24 hours.

## Errors
Errors are problem documents (RFC 9457). Switch on \`code\`; \`type\` is the URL of an explanation. Besides the listed ones, an unknown path is 404, an unsupported method 405, and a request that is not valid HTTP is refused as such.

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

/** Returns the description of an operation: its own sentences, then what its method means, then who may call it. */
export function descriptionOf(route: Route): string {
  const { accepts, operationId, rawSecret = false } = route
  const forms = accepts.map((form) => FORMS[form])
  const accepted = forms.length === 1 ? forms[0] : `${forms.slice(0, -1).join(', ')} or ${forms.at(-1)}`
  return [
    OWN[operationId],
    meaning(route),
    `Accepts ${accepted}.${rawSecret ? ' The secret key may come in `Authorization` as well.' : ''}`,
  ]
    .filter((text) => text !== undefined && text !== '')
    .join('\n\n')
}

function meaning(route: Route): string {
  const { method, returns, creates = false, takesBody } = route
  const isConditional = hasEntityTag(route)
  switch (method) {
    case 'GET':
      return returns === 'many'
        ? 'Returns one page. `Pagination-Total` counts the items of all pages.'
        : isConditional
          ? 'Returns 304 if the resource still has an entity tag of `If-None-Match`.'
          : ''
    case 'PUT':
      return [
        'Replaces the writable members: an optional member that is missing returns to its default, and null clears it. Read-only members are ignored, so that a response can be sent back unchanged.',
        creates ? 'If no resource has the id, it is created under it (201).' : '',
        isConditional ? 'A request that changes nothing keeps the revision.' : '',
      ]
        .filter((text) => text !== '')
        .join(' ')
    case 'PATCH':
      return 'Changes the members that the body has, and no others.'
    case 'DELETE':
      return ''
    case 'POST':
      return takesBody && creates ? 'The id is generated; use PUT to choose one.' : ''
  }
}

/** Sentences of a single operation. */
const OWN: Readonly<Record<string, string>> = {
  PutOrganization: 'Settings apply to all orders from the next event on.',
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
  PostPaymentInstrument: 'The payment token is consumed.',
  PostTransaction:
    'The response has the outcome: `approved`, `declined`, or `unknown` while the gateway has not answered. A repetition under an `Idempotency-Key` continues the same transaction and moves no money twice. Use the test cards of the README in the sandbox.',
  DeleteCustomer: 'A customer with orders, transactions or payment instruments cannot be deleted (409).',
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
  PostServiceCredential: 'Webhooks refer to the credential by its `hash`. The password is never returned.',
  PatchServiceCredential: 'An inactive credential is not sent.',
  PostSubscription:
    'The order is `pending` until its start time. Then its initial invoice is issued and, with `autopay` and a usable payment instrument, charged.',
  PutSubscription:
    'What can change depends on the state of the order. `startTime`, `trial`, `isTrialOnly`, `recurringInterval` and `abandonTime` stay as they are if they are missing. `renewalTime` moves the next boundary, only with `If-Match`.',
  PostSubscriptionVoid: 'Only a pending order can be voided; any other is canceled.',
  GetSubscriptionUpcomingInvoice: 'The response is 404 if the order has no next invoice.',
  PostSubscriptionFastForward:
    "Everything that is due until the new time happens in order, with its events. An order's clock never goes back. The response is 202 if it takes longer than ten seconds.",
  PostSubscriptionCancellation:
    'Without a `churnTime` in the future the service ends immediately. Otherwise it lasts until then, and the cancellation can be undone by a reactivation.',
  PutSubscriptionPause: 'Only the end of a pause can be changed.',
  DeleteSubscriptionPause: 'An active pause ends and the order resumes; a pending one is revoked.',
  PostSubscriptionReactivation: 'Only a canceled or churned order can be reactivated.',
  PostInvoiceVoid: 'Only an unpaid or past-due invoice can be voided.',
}
