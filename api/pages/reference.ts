/** The HTML pages of the operations and the problems. They load nothing from elsewhere. */
import { FIELD_CODES } from '../../billing/errors.ts'
import { PROBLEMS, type ProblemCode } from '../http/problems.ts'
import type { OpenApiDocument } from '../openapi.ts'

export function docsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        `<tr><td><code>${method.toUpperCase()}</code></td><td><code>${escapeHtml(path)}</code></td><td>${escapeHtml(operation.summary)}</td></tr>`,
    ),
  )
  const problems = Object.entries(PROBLEMS).map(
    ([slug, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="/problems/${slug}">${slug}</a></td><td>${escapeHtml(title)}</td></tr>`,
  )
  return page(
    'Subscription Billing Service API',
    `<p>The whole contract is <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<h2>Operations</h2><table><tr><th>Method</th><th>Path</th><th>What it does</th></tr>${operations.join('')}</table>
<h2>Problems</h2><table><tr><th>Status</th><th>Code</th><th>Title</th></tr>${problems.join('')}</table>`,
  )
}

export function problemPage(slug: ProblemCode): string {
  const { status, title, meaning } = PROBLEMS[slug]
  return page(
    slug,
    `<p>HTTP ${status}. ${escapeHtml(title)}.</p><p>${escapeHtml(meaning)}</p>${LISTS_FIELDS.includes(slug) ? fieldCodes() : ''}<p><a href="/docs">All problems</a></p>`,
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
<title>${escapeHtml(title)}</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
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
