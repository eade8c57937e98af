/** The checkout page with Stripe's own form, for an organization whose gateway account has a publishable key. */
import { STRIPE_API_VERSION } from '../../gateways/stripe.ts'
import { escapeHtml } from '../pages/plain-page.ts'

const SCRIPTS = 'https://js.stripe.com'

/** What Stripe's script loads, frames and calls. It makes markup and scripts of its own: no trusted types. */
export const PROVIDER_POLICY = [
  "default-src 'none'",
  `script-src 'self' ${SCRIPTS} https://*.js.stripe.com`,
  "style-src 'self'",
  "connect-src 'self' https://api.stripe.com",
  `frame-src ${SCRIPTS} https://*.js.stripe.com https://hooks.stripe.com`,
  'img-src data: https://*.stripe.com',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Stripe has a script for each of its API's releases. */
const SCRIPT = `${SCRIPTS}/${STRIPE_API_VERSION.split('.')[1]}/stripe.js`

const PLACE_OF_SCRIPT = '<!-- script of the provider -->'
const PLACE_OF_FORM = '<!-- form of the provider -->'

/** Puts Stripe's form into the page; without a publishable key, nothing. */
export function withProviderForm(page: string, publishableKey: string | null): string {
  const [script, form] =
    publishableKey === null ? ['', ''] : [`<script defer src="${SCRIPT}"></script>`, formOf(publishableKey)]
  return page.replace(PLACE_OF_SCRIPT, () => script).replace(PLACE_OF_FORM, () => form)
}

function formOf(publishableKey: string): string {
  return `<section aria-labelledby="provider-heading">
    <h2 id="provider-heading"><span class="step" aria-hidden="true">1</span> Or in the form of Stripe</h2>
    <p>The card goes from the browser to Stripe and never comes here.</p>
    <form id="provider-form" class="inner" method="post" aria-labelledby="provider-heading"
      data-publishable-key="${escapeHtml(publishableKey)}">
      <div id="provider-element"></div>
      <div id="provider-problem" role="alert"></div>
      <button type="submit" id="provider-submit" disabled>Store the card with Stripe</button>
    </form>
    <div id="provider-result" role="status"></div>
  </section>`
}
