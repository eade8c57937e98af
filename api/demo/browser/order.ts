import { OPEN, RIGHT, type Verdict, validateOrganization, validateSecretKey, wrong } from './merchant-form.ts'
import {
  callApi,
  element,
  field,
  keep,
  money,
  type ProblemResponse,
  problemBox,
  recall,
  show,
  showFacts,
  tableRow,
  tagged,
  value,
  written,
} from './page.ts'

const DAY = 86_400_000
/** Milliseconds. */
const POLL_INTERVAL = 500

interface Order {
  readonly status: string
  readonly billingStatus: string
  readonly rebillNumber: number | null
  readonly activationTime: string | null
  readonly renewalTime: string | null
  readonly churnTime: string | null
  readonly clockOffset: number
}

interface Invoice {
  readonly periodNumber: number | null
  readonly periodStart: string | null
  readonly amount: number
  readonly currency: string
  readonly status: string
}

interface Entry {
  readonly occurredTime: string
  readonly message: string
  readonly cause: string
}

const REMEMBERED = { organization: 'organization', key: 'secret-key' } as const
const ID = decodeURIComponent(location.pathname.split('/').at(-1) ?? '')
const VALIDATORS: Readonly<Record<string, (finished: boolean) => Verdict>> = {
  organization: (finished) => validateOrganization(value('organization'), finished),
  key: (finished) => validateSecretKey(value('key'), finished),
}

let order: Order | null = null

element('title', HTMLElement).textContent = ID
document.title = `Order ${ID}`
restore()
addEventListener('hashchange', restore)

const merchant = element('merchant', HTMLFormElement)
merchant.addEventListener('input', ({ target }) => {
  if (target instanceof HTMLInputElement) show(target.id, VALIDATORS[target.id]?.(false) ?? OPEN)
})
merchant.addEventListener('submit', (event) => {
  event.preventDefault()
  void begin()
})
const clock = element('clock', HTMLFormElement)
clock.addEventListener('click', ({ target }) => {
  if (!(target instanceof HTMLButtonElement) || order === null) return
  const { days } = target.dataset
  if (days !== undefined) offer(orderTime(order) + Number(days) * DAY)
  else if (target.id === 'renewal' && order.renewalTime !== null)
    offer(Date.parse(order.renewalTime) + 60_000)
})
clock.addEventListener('submit', (event) => {
  event.preventDefault()
  void move()
})
element('refresh', HTMLButtonElement).addEventListener('click', () => void refresh())

async function begin(): Promise<void> {
  const wrongOnes = Object.entries(VALIDATORS).filter(([id, validate]) => {
    const verdict = validate(true)
    show(id, verdict)
    return verdict.state === 'wrong'
  })
  const [first] = wrongOnes
  if (first !== undefined) return field(first[0]).focus()
  for (const [id, name] of Object.entries(REMEMBERED)) keep(name, id, RIGHT)
  await refresh()
}

async function refresh(): Promise<void> {
  say(null)
  try {
    const [found, invoices, timeline] = await Promise.all([
      ask<Order>(`subscriptions/${encodeURIComponent(ID)}`),
      ask<Invoice[]>(`invoices?limit=100&filter=${encodeURIComponent(`subscriptionId:${ID}`)}`),
      ask<Entry[]>(`subscriptions/${encodeURIComponent(ID)}/timeline?limit=100`),
    ])
    order = found
    showOrder(found, invoices, timeline)
  } catch (error) {
    refuse(error)
  }
}

async function move(): Promise<void> {
  const button = element('move', HTMLButtonElement)
  if (button.getAttribute('aria-busy') === 'true') return
  const to = Date.parse(withZone(value('to')))
  const verdict = Number.isNaN(to) ? wrong('Write it as 2027-01-31 09:00.') : OPEN
  show('to', verdict)
  if (verdict.state === 'wrong') return field('to').focus()
  say(null)
  const progress = element('progress', HTMLElement)
  progress.textContent = 'Fast-forwarding. Everything that is due until then is processed in order.'
  button.setAttribute('aria-busy', 'true')
  try {
    const path = `subscriptions/${encodeURIComponent(ID)}/fast-forward`
    let move = await ask<{ id: string; status: string; detail?: string | null }>(path, {
      to: new Date(to),
    })
    while (move.status === 'running') {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL))
      move = await ask(`${path}/${move.id}`)
    }
    if (move.status === 'failed') throw { title: 'The clock could not be moved', detail: move.detail ?? '' }
    await refresh()
    progress.textContent = 'The clock has been moved.'
    field('to').value = ''
  } catch (error) {
    progress.textContent = ''
    refuse(error)
  } finally {
    button.removeAttribute('aria-busy')
  }
}

async function ask<T>(path: string, body?: object): Promise<T> {
  return await callApi<T>(path, { 'SVC-APIKEY': value('key') }, body)
}

function refuse(error: unknown): void {
  const problem = error as ProblemResponse
  const late = problem.invalidFields?.find((one) => one.field === 'to')
  if (late !== undefined) {
    show('to', wrong(`The API says: ${late.message}.`))
    field('to').focus()
  } else if (problem.status === 401 || problem.status === 403) {
    show('key', wrong(`The API says: ${problem.detail ?? ''}`))
    field('key').focus()
  }
  say(problemBox(problem, late === undefined ? (problem.detail ?? '') : ''))
}

function showOrder(found: Order, invoices: readonly Invoice[], timeline: readonly Entry[]): void {
  element('order', HTMLElement).hidden = false
  clock.hidden = false
  const now = element('now', HTMLTimeElement)
  now.dateTime = new Date(orderTime(found)).toISOString()
  now.textContent = `${written(now.dateTime)}${found.clockOffset === 0 ? ', as everywhere' : ', ahead of real time'}`
  element('renewal', HTMLButtonElement).disabled = found.renewalTime === null
  showFacts('facts', [
    ['Status', found.status],
    ['Latest invoice', found.billingStatus],
    ['Period', found.rebillNumber === null ? null : String(found.rebillNumber)],
    ['Active since', found.activationTime === null ? null : written(found.activationTime)],
    ['Renews', found.renewalTime === null ? null : written(found.renewalTime)],
    ['Service ends', found.churnTime === null ? null : written(found.churnTime)],
  ])
  element('invoices', HTMLElement).replaceChildren(
    ...invoices.map(({ periodNumber, periodStart, amount, currency, status }) => {
      const begins = periodStart === null ? '–' : written(periodStart)
      return tableRow(String(periodNumber ?? '–'), begins, money(amount, currency), status)
    }),
  )
  element('timeline', HTMLElement).replaceChildren(
    ...timeline.map(({ occurredTime, message, cause }) => {
      const item = tagged('li')
      const when = tagged('time', written(occurredTime), 'hint')
      when.setAttribute('datetime', occurredTime)
      item.append(when, tagged('span', message), tagged('span', cause, 'badge'))
      return item
    }),
  )
}

function restore(): void {
  recall(REMEMBERED)
  if (Object.values(VALIDATORS).every((validate) => validate(true).state === 'right')) void begin()
}

function offer(instant: number): void {
  field('to').value = written(new Date(instant).toISOString())
  show('to', OPEN)
}

function say(box: HTMLElement | null): void {
  element('problem', HTMLElement).replaceChildren(...(box === null ? [] : [box]))
}

function orderTime({ clockOffset }: Order): number {
  return Date.now() + clockOffset * 1_000
}

/** Returns a typed time as an ISO 8601 instant; without a zone it is UTC. */
function withZone(text: string): string {
  const spaced = text.replace(' ', 'T')
  return /^\d{4}-\d\d-\d\d$/.test(spaced) || /(?:Z|[+-]\d\d:\d\d)$/.test(spaced) ? spaced : `${spaced}Z`
}
