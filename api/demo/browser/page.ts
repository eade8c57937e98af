/** What the demo pages share: their elements, verdicts beside fields, problem documents, and what a tab remembers. */
import type { Verdict } from './merchant-form.ts'

/** A problem document, as far as pages show it. */
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

/** A new element with a text, which is never taken for markup. */
export function tagged(tag: string, text = '', className = ''): HTMLElement {
  const made = document.createElement(tag)
  made.textContent = text
  made.className = className
  return made
}

/** Shows a verdict beside its field. */
export function show(id: string, { state, message }: Verdict): void {
  const place = element(`${id}-message`, HTMLElement)
  // Written only when it changes, or it would be read out again at every digit.
  if (place.textContent !== message) place.textContent = message
  place.dataset.state = state
  const input = field(id)
  if (state === 'wrong') input.setAttribute('aria-invalid', 'true')
  else input.removeAttribute('aria-invalid')
}

/** What went wrong, as a box: with the detail where no field can say it, and the problem's own page. */
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

/** Fills fields from the address's fragment, which goes away at once, else from this tab's memory; gives those it filled. */
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

/** Keeps a field for this tab where it is right, and forgets what is not. */
export function keep(name: string, id: string, { state }: Verdict): void {
  if (state === 'right') sessionStorage.setItem(name, value(id))
  else sessionStorage.removeItem(name)
}
