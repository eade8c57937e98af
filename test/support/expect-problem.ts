import { expect } from '@jest/globals'
import type { ApiAnswer } from './api-client.ts'

/** Asserts that an answer is that problem; gives the fields it names. */
export function expectProblem(answer: ApiAnswer, status: number, code: string): string[] {
  expect({ status: answer.status, ...answer.body }).toMatchObject({ status, code })
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  const { invalidFields = [] } = answer.body as { invalidFields?: { field: string }[] }
  return invalidFields.map(({ field }) => field).sort()
}
