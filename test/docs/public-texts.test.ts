/** The words of the API are those of its field. */
import { expect, test } from '@jest/globals'
import { PROBLEMS } from '../../api/http/problems.ts'
import { openApiDocument } from '../../api/openapi.ts'
import { ROUTES } from '../../api/routes.ts'

const PRIVATE =
  /\b(vouch\w*|settle[sd]?|settling|rings?|happenings?|engines?|spent|absent|lacks?|judged?|mend\w*|told|tells?|in vain|nothing is here|stands? there|came of|becomes? of|not there)\b/i

function* textsOf(value: unknown, path: string): Generator<{ path: string; text: string }> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    const isText = ['summary', 'title', 'description', 'meaning'].includes(name)
    if (isText && typeof member === 'string') yield { path: `${path}.${name}`, text: member }
    else yield* textsOf(member, `${path}.${name}`)
  }
}

const texts = [
  ...textsOf(openApiDocument('https://billing.example', ROUTES), 'openapi'),
  ...textsOf(PROBLEMS, 'problems'),
]

test('public texts are found', () => {
  expect(texts.length).toBeGreaterThan(300)
})

test('no public text has a private word', () => {
  expect(texts.filter(({ text }) => PRIVATE.test(text))).toEqual([])
})

test('every operation and every problem begins with a capital and ends without a period', () => {
  const titles = texts.filter(({ path }) => /\.(summary|title)$/.test(path))
  expect(titles.filter(({ text }) => !/^[A-Z].*[^.]$/.test(text))).toEqual([])
})
