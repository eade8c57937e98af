/** The account demo: a customer signs in. The JWT is in this module's memory alone and ends with the page. */
import { CARD_VALIDATORS, cardOf, clearCard, wireCardFields } from './card-fields.ts'
import { liveForm, type Validators } from './live-form.ts'
import { missing, OPEN, RIGHT, validateOrganization, validatePublishableKey } from './merchant-form.ts'
import {
  callApi,
  element,
  field,
  keep,
  money,
  type ProblemResponse,
  problemBox,
  recall,
  showFacts,
  tableRow,
  value,
  written,
} from './page.ts'

interface Account {
  readonly email: string | null
  readonly firstName: string | null
  readonly lastName: string | null
}

interface Order {
  readonly id: string
  readonly status: string
  readonly renewalTime: string | null
}

interface Invoice {
  readonly issuedTime: string | null
  readonly amount: number
  readonly amountDue: number
  readonly currency: string
  readonly status: string
}

interface Card {
  readonly brand: string
  readonly last4: string
  readonly expMonth: number
  readonly expYear: number
  readonly status: string
}

/** The JWT of the page permits these operations and no other. */
const PERMISSIONS = [
  'PostToken',
  'StorefrontGetAccount',
  'StorefrontGetOrderCollection',
  'StorefrontGetInvoiceCollection',
  'StorefrontGetPaymentInstrumentCollection',
  'StorefrontPostPaymentInstrument',
]
/** Milliseconds. */
const SESSION = 15 * 60_000
const REMEMBERED = { organization: 'organization', key: 'publishable-key' } as const
const SIGN_IN: Validators = {
  organization: (finished) => validateOrganization(value('organization'), finished),
  key: (finished) => validatePublishableKey(value('key'), finished),
  username: (finished) => (value('username') === '' ? missing('the username', finished) : RIGHT),
  // Not trimmed: spaces belong to a password.
  password: (finished) => (field('password').value === '' ? missing('the password', finished) : RIGHT),
}

let jwt: string | null = null

const signInForm = element('sign-in', HTMLFormElement)
const signInFields = liveForm(signInForm, SIGN_IN, (id) => {
  if (id in REMEMBERED) remember()
})
const cardForm = element('card', HTMLFormElement)
const cardFields = liveForm(cardForm, CARD_VALIDATORS)
wireCardFields(cardForm, cardFields)
restore()
addEventListener('hashchange', restore)
// A page restored from the history would still be signed in, and show the card.
addEventListener('pagehide', signOut)
signInForm.addEventListener('submit', (event) => {
  event.preventDefault()
  if (signInFields.validateAll()) void busy('submit', signIn)
})
cardForm.addEventListener('submit', (event) => {
  event.preventDefault()
  if (cardFields.validateAll()) void busy('add', addCard)
})
element('sign-out', HTMLButtonElement).addEventListener('click', () => {
  signOut()
  announce('You are signed out. The page has forgotten the JWT.')
  field('username').focus()
})

async function signIn(): Promise<void> {
  const key = { Authorization: value('key') }
  const { token } = await callApi<{ token: string }>('authentication-tokens', key, {
    mode: 'password',
    username: value('username'),
    password: field('password').value,
  })
  const session = await callApi<{ token: string; expiredTime: string }>(
    `authentication-tokens/${token}/exchange`,
    key,
    { acl: [{ permissions: PERMISSIONS }], expiredTime: new Date(Date.now() + SESSION) },
  )
  jwt = session.token
  field('password').value = ''
  signInFields.forget('password')
  const [account, orders, invoices] = await Promise.all([
    ask<Account>('storefront/account'),
    ask<Order[]>('storefront/orders?limit=100'),
    ask<Invoice[]>('storefront/invoices?limit=100'),
    refreshCards(),
  ])
  const name = [account.firstName, account.lastName].filter((part) => part !== null).join(' ')
  showFacts('facts', [
    ['Name', name === '' ? null : name],
    ['E-mail', account.email],
    ['Signed in until', `${written(session.expiredTime)} UTC`],
  ])
  rows(
    'orders',
    orders.map(({ id, status, renewalTime }) => [
      id,
      status,
      renewalTime === null ? '–' : written(renewalTime),
    ]),
  )
  rows(
    'invoices',
    invoices.map(({ issuedTime, amount, amountDue, currency, status }) => [
      issuedTime === null ? '–' : written(issuedTime),
      money(amount, currency),
      money(amountDue, currency),
      status,
    ]),
  )
  showSignedIn(true)
  announce('You are signed in.')
  element('account-heading', HTMLElement).focus()
}

async function addCard(): Promise<void> {
  const { id: token } = await ask<{ id: string }>('tokens', {
    method: 'payment-card',
    paymentInstrument: cardOf(),
  })
  const { brand, last4 } = await ask<Card>('storefront/payment-instruments', { token })
  clearCard(cardFields)
  await refreshCards()
  announce(`${brand} ending in ${last4} was added.`)
}

async function refreshCards(): Promise<void> {
  const cards = await ask<Card[]>('storefront/payment-instruments?limit=100')
  rows(
    'cards',
    cards.map(({ brand, last4, expMonth, expYear, status }) => [
      brand,
      `…${last4}`,
      `${String(expMonth).padStart(2, '0')}/${expYear}`,
      status,
    ]),
  )
}

function signOut(): void {
  jwt = null
  field('password').value = ''
  signInFields.forget('password')
  clearCard(cardFields)
  showFacts('facts', [])
  for (const id of ['orders', 'invoices', 'cards']) rows(id, [])
  showSignedIn(false)
}

function showSignedIn(signedIn: boolean): void {
  signInForm.hidden = signedIn
  for (const id of ['account', 'card']) element(id, HTMLElement).hidden = !signedIn
}

async function ask<T>(path: string, body?: object): Promise<T> {
  return await callApi<T>(path, { Authorization: `Bearer ${jwt}` }, body)
}

/** Runs what a button starts, once at a time, and shows why it failed. */
async function busy(id: string, run: () => Promise<void>): Promise<void> {
  const button = element(id, HTMLButtonElement)
  if (button.getAttribute('aria-busy') === 'true') return
  say(null)
  button.setAttribute('aria-busy', 'true')
  try {
    await run()
  } catch (error) {
    const problem = error as ProblemResponse
    // The JWT has expired or was revoked, for example by a new password.
    if (problem.status === 401 && jwt !== null) signOut()
    const fields = (problem.invalidFields ?? []).map(({ field: name, message }) => `${name} ${message}`)
    say(problemBox(problem, fields.length > 0 ? fields.join('; ') : (problem.detail ?? '')))
  } finally {
    button.removeAttribute('aria-busy')
  }
}

function rows(id: string, texts: readonly (readonly string[])[]): void {
  element(id, HTMLElement).replaceChildren(...texts.map((row) => tableRow(...row)))
}

function say(box: HTMLElement | null): void {
  announce('')
  element('problem', HTMLElement).replaceChildren(...(box === null ? [] : [box]))
}

function announce(text: string): void {
  element('progress', HTMLElement).textContent = text
}

function restore(): void {
  for (const id of recall(REMEMBERED)) signInFields.leave(id)
  remember()
}

function remember(): void {
  for (const [id, name] of Object.entries(REMEMBERED)) keep(name, id, SIGN_IN[id]?.(true) ?? OPEN)
}
