/** The HTML pages of the problems. They load nothing. */
import { FIELD_CODES } from '../../billing/errors.ts'
import { PROBLEMS, type ProblemCode } from '../http/problems.ts'

export function problemPage(slug: ProblemCode): string {
  const { status, title, meaning } = PROBLEMS[slug]
  return page(
    slug,
    `<p>HTTP ${status}. ${escapeHtml(title)}.</p><p>${escapeHtml(meaning)}</p>${LISTS_FIELDS.includes(slug) ? fieldCodes() : ''}<p><a href="../docs">API reference</a></p>`,
  )
}

/** Problems with `invalidFields`. */
const LISTS_FIELDS: readonly ProblemCode[] = ['validation-error', 'malformed-request']

function fieldCodes(): string {
  const rows = Object.entries(FIELD_CODES).map(
    ([code, meaning]) => `<tr><td><code>${code}</code></td><td>${escapeHtml(meaning)}</td></tr>`,
  )
  return `<h2>Codes of fields</h2><table><tr><th>Code</th><th>Meaning</th></tr>${rows.join('')}</table>`
}

function page(title: string, content: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}:root{color-scheme:light dark}
table{border-collapse:collapse}td,th{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top}</style>
<main><h1>${escapeHtml(title)}</h1>${content}</main></html>`
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
