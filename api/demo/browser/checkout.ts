/** The checkout demo. Card data go into one request body: never the address, storage or the console. */
import { CARD_VALIDATORS, cardOf, clearCard, wireCardFields } from './card-fields.ts'
import { liveForm, type Validators } from './live-form.ts'
import { OPEN, validateOrganization, validatePublishableKey } from './merchant-form.ts'
import {
  element,
  field,
  keep,
  type ProblemResponse,
  problemBox,
  recall,
  show,
  tagged,
  value,
} from './page.ts'
import { providerForm } from './provider-form.ts'

/** The fields by the names of their members in `invalidFields`. */
const MEMBERS: Readonly<Record<string, string>> = {
  'paymentInstrument.pan': 'number',
  'paymentInstrument.expMonth': 'month',
  'paymentInstrument.expYear': 'year',
  'paymentInstrument.cvv': 'code',
  'billingAddress.firstName': 'first-name',
  'billingAddress.lastName': 'last-name',
  'billingAddress.emails.0.value': 'email',
  'billingAddress.country': 'country',
}
/** What the provider's form made, or an example. */
let adopted = 'pm_card_visa'
const REMEMBERED = { organization: 'organization', key: 'publishable-key' } as const

const VALIDATORS: Validators = {
  organization: (finished) => validateOrganization(value('organization'), finished),
  key: (finished) => validatePublishableKey(value('key'), finished),
  ...CARD_VALIDATORS,
}

const form = element('checkout', HTMLFormElement)
const live = liveForm(form, VALIDATORS, (id) => {
  if (id === 'organization' || id === 'key') remember()
})
wireCardFields(form, live)
restore()
addEventListener('hashchange', restore)
// A page restored from the history would still show the card.
addEventListener('pagehide', () => clearCard(live))
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void submit()
})
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copies]')) {
  button.addEventListener('click', () => void copy(button.dataset.copies ?? ''))
}
showCalls(null)
providerForm((paymentMethod) => {
  adopted = paymentMethod
  showAdoption()
})
if (new URLSearchParams(location.search).has('returned')) showReturn()

async function submit(): Promise<void> {
  const button = element('submit', HTMLButtonElement)
  if (button.getAttribute('aria-busy') === 'true') return
  showProblem(null)
  for (const id of Object.values(MEMBERS)) if (!(id in VALIDATORS)) show(id, OPEN)
  if (!live.validateAll()) return

  button.setAttribute('aria-busy', 'true')
  try {
    const response = await fetch(
      new URL(`../organizations/${encodeURIComponent(value('organization'))}/tokens`, location.href),
      {
        method: 'POST',
        headers: { Authorization: value('key'), 'Content-Type': 'application/json' },
        body: JSON.stringify(tokenBody()),
        credentials: 'omit',
        cache: 'no-store',
      },
    )
    const responseBody = await response.json()
    if (response.ok) showToken(responseBody)
    else showProblem(responseBody)
  } catch {
    showProblem({
      title: 'The service could not be reached',
      detail: 'Check that it is running and try again. Nothing was sent twice.',
    })
  } finally {
    button.removeAttribute('aria-busy')
  }
}

function tokenBody(): object {
  const contact = {
    firstName: value('first-name') || null,
    lastName: value('last-name') || null,
    country: value('country').toUpperCase() || null,
    emails: value('email') === '' ? [] : [{ value: value('email'), primary: true }],
  }
  const says = Object.values(contact).some((member) => member !== null && member.length > 0)
  return {
    method: 'payment-card',
    paymentInstrument: cardOf(),
    billingAddress: says ? contact : null,
    riskMetadata: {
      browserData: {
        colorDepth: screen.colorDepth,
        isJavaEnabled: false,
        language: navigator.language,
        screenWidth: screen.width,
        screenHeight: screen.height,
        timeZoneOffset: new Date().getTimezoneOffset(),
      },
    },
  }
}

interface TokenResponse {
  readonly id: string
  readonly expirationTime: string
  readonly paymentInstrument: { readonly brand?: string; readonly last4: string | null }
}

function showToken({ id, expirationTime, paymentInstrument: { brand, last4 } }: TokenResponse): void {
  clearCard(live)
  const made = tagged('div', '', 'made')
  const until = new Date(expirationTime).toLocaleTimeString()
  const text = tagged('p', `${brand ?? 'Card'} ending in ${last4 ?? '…'} is now the token `)
  text.append(tagged('code', id), `, good for one use until ${until}.`)
  made.append(text)
  element('result', HTMLElement).replaceChildren(made)
  showCalls(id)
}

/** Shows field errors beside their fields, and the rest above the button. */
function showProblem(problem: ProblemResponse | null): void {
  const place = element('problem', HTMLElement)
  place.replaceChildren()
  if (problem === null) return
  const elsewhere: string[] = []
  let first: HTMLInputElement | null = null
  for (const { field: member, message } of problem.invalidFields ?? []) {
    const id = MEMBERS[member]
    if (id === undefined) {
      elsewhere.push(`${member} ${message}`)
      continue
    }
    show(id, { state: 'wrong', message: `The API says: ${message}.` })
    first ??= field(id)
  }
  // The key is the only part of the request that the payer can fix here.
  if (problem.status === 401 || problem.status === 403) {
    show('key', { state: 'wrong', message: `The API says: ${problem.detail ?? ''}` })
    first ??= field('key')
  }
  place.append(problemBox(problem, first === null ? (problem.detail ?? '') : elsewhere.join('; ')))
  first?.focus()
}

/** Shows the requests that a server makes. What only the server knows stays a placeholder. */
function showCalls(token: string | null): void {
  const id = token ?? 'tok_…'
  showCall(
    'charge',
    'transactions',
    `{\n    "type": "sale",\n    "customerId": "cus_…",\n    "currency": "EUR",\n    "amount": 9.9,\n    "paymentInstruction": {"token": "${id}"},\n    "redirectUrl": "${new URL('?returned', location.href).href}"\n  }`,
  )
  showCall('keep', 'payment-instruments', `{\n    "customerId": "cus_…",\n    "token": "${id}"\n  }`)
  showAdoption()
  const link = element('provider-link', HTMLAnchorElement)
  link.href = `?${new URLSearchParams({ organization: value('organization') })}`
}

function showAdoption(): void {
  showCall(
    'adopt',
    'payment-instruments',
    `{\n    "customerId": "cus_…",\n    "referenceData": {"paymentMethod": "${adopted}"}\n  }`,
  )
}

function showCall(id: string, path: string, body: string): void {
  const organization = encodeURIComponent(value('organization')).replaceAll("'", '%27') || 'org_…'
  const base = new URL(`../organizations/${organization}/`, location.href).href.replaceAll('%E2%80%A6', '…')
  element(id, HTMLElement).textContent =
    `curl -sS '${base}${path}' \\\n  -H "SVC-APIKEY: $SECRET_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`
}

function showReturn(): void {
  const text =
    'The payer is back from the bank. Your server now reads the transaction, or waits for its webhook '
  const made = tagged('p', text)
  made.append(tagged('code', 'offsite-payment-completed'), '.')
  element('returned', HTMLElement).replaceChildren(made)
}

async function copy(id: string): Promise<void> {
  const copied = element('copied', HTMLElement)
  try {
    await navigator.clipboard.writeText(element(id, HTMLElement).textContent ?? '')
    copied.textContent = 'Copied.'
  } catch {
    copied.textContent = 'This browser does not let the page copy: select the text instead.'
  }
}

function restore(): void {
  for (const id of recall(REMEMBERED)) live.leave(id)
  remember()
}

function remember(): void {
  for (const [id, name] of Object.entries(REMEMBERED)) keep(name, id, VALIDATORS[id]?.(true) ?? OPEN)
  showCalls(null)
}
