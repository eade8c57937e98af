import { expect } from '@jest/globals'
import type { ApiResponse } from './api-client.ts'

/** Returns the fields that the problem names. */
export function expectProblem(response: ApiResponse, status: number, code: string): string[] {
  expect({ status: response.status, ...response.body }).toMatchObject({ status, code })
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const { invalidFields = [] } = response.body as { invalidFields?: { field: string }[] }
  return invalidFields.map(({ field }) => field).sort()
}
