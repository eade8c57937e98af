import { describe, expect, test } from '@jest/globals'
import { lastUsed } from '../../billing/last-used.ts'

describe('what is kept of the arguments used last', () => {
  test('is made once, and again after it was not among them', () => {
    const made: string[] = []
    const of = lastUsed(
      2,
      (name: string) => name,
      (name) => {
        made.push(name)
        return { name }
      },
    )
    expect(of('a')).toBe(of('a'))
    of('b')
    of('a')
    of('c')
    expect(made).toEqual(['a', 'b', 'c'])
    of('a')
    expect(made).toEqual(['a', 'b', 'c'])
    of('b')
    expect(made).toEqual(['a', 'b', 'c', 'b'])
  })
})
