import { FIELD_CODES } from '../../billing/errors.ts'
import { PROBLEMS, type ProblemCode } from '../http/problems.ts'
import { escapeHtml, plainPage } from './plain-page.ts'

export function problemPage(slug: ProblemCode): string {
  const { status, title, meaning } = PROBLEMS[slug]
  return plainPage(
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
