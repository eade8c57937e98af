import type { Verdict } from './merchant-form.ts'

export interface ProblemResponse {
  readonly title?: string
  readonly detail?: string
  readonly type?: string
  readonly status?: number
  readonly invalidFields?: readonly { readonly field: string; readonly message: string }[]
}

export function element<T extends HTMLElement>(id: string, kind: { new (): T; prototype: T }): T {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`)
  return found
}

export function field(id: string): HTMLInputElement {
  return element(id, HTMLInputElement)
}

export function value(id: string): string {
  return field(id).value.trim()
}

/** Creates an element with a text, which is never parsed as markup. */
export function tagged(tag: string, text = '', className = ''): HTMLElement {
  const made = document.createElement(tag)
  made.textContent = text
  made.className = className
  return made
}

export function show(id: string, { state, message }: Verdict): void {
  const place = element(`${id}-message`, HTMLElement)
  // Written only on a change; otherwise a screen reader would repeat it at every digit.
  if (place.textContent !== message) place.textContent = message
  place.dataset.state = state
  const input = field(id)
  if (state === 'wrong') input.setAttribute('aria-invalid', 'true')
  else input.removeAttribute('aria-invalid')
}

export function problemBox({ title, type }: ProblemResponse, detail: string): HTMLElement {
  const box = tagged('div', '', 'problem')
  box.append(tagged('p', [title ?? 'The request failed', detail].filter((text) => text !== '').join('. ')))
  if (type !== undefined && /^https?:/.test(type)) {
    const link = tagged('a', 'What this problem means')
    link.setAttribute('href', type)
    box.append(link)
  }
  return box
}

/** Fills fields from the address's fragment, which it removes, or from this tab's memory, and returns them. */
export function recall(names: Readonly<Record<string, string>>): string[] {
  const given = new URLSearchParams(location.hash.slice(1))
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search)
  return Object.entries(names).flatMap(([id, name]) => {
    const known = given.get(id) ?? sessionStorage.getItem(name)
    if (known === null) return []
    field(id).value = known
    return [id]
  })
}

export function keep(name: string, id: string, { state }: Verdict): void {
  if (state === 'right') sessionStorage.setItem(name, value(id))
  else sessionStorage.removeItem(name)
}

/** Calls an operation of the organization in the form, by POST if there is a body. Throws a ProblemResponse. */
export async function callApi<T>(
  path: string,
  credential: Readonly<Record<string, string>>,
  body?: object,
): Promise<T> {
  // From this module, because pages are at different depths.
  const address = `../../../../../organizations/${encodeURIComponent(value('organization'))}/${path}`
  let response: Response
  try {
    response = await fetch(new URL(address, import.meta.url), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...credential, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: 'omit',
      cache: 'no-store',
    })
  } catch {
    throw {
      title: 'The service could not be reached',
      detail: 'Check that it is running and try again.',
    } satisfies ProblemResponse
  }
  const responseBody = await response.json()
  if (!response.ok) throw responseBody
  return responseBody
}

export function written(instant: string): string {
  return instant.slice(0, 19).replace('T', ' ')
}

export function money(amount: number, currency: string): string {
  return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(amount)
}

export function tableRow(...texts: readonly string[]): HTMLElement {
  const row = tagged('tr')
  row.append(...texts.map((text) => tagged('td', text)))
  return row
}

export function showFacts(id: string, facts: readonly (readonly [string, string | null])[]): void {
  element(id, HTMLElement).replaceChildren(
    ...facts.flatMap(([name, text]) => (text === null ? [] : [tagged('dt', name), tagged('dd', text)])),
  )
}
