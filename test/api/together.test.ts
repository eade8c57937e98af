import { describe, expect, test } from '@jest/globals'
import { together } from '../../api/together.ts'
import { waitFor } from '../support/wait-for.ts'

describe('calls that are made together', () => {
  /** Each run waits until it is ended. */
  function runs() {
    let time = 0
    const begun: { key: string; callers: number; end(): void; fail(): void }[] = []
    const call = together(
      async (key, callers) => {
        const run = begun.length
        await new Promise<void>((resolve, reject) => {
          begun.push({ key, callers, end: resolve, fail: () => reject(new Error(`run ${run} failed`)) })
        })
        return (place) => `${key} ${run}.${place}`
      },
      () => time,
    )
    const pass = (milliseconds: number): void => {
      time += milliseconds
    }
    return { begun, call, pass }
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  test('begin at once where none is in progress', async () => {
    const { begun, call } = runs()
    const first = call('a')
    const other = call('b')
    expect(begun).toMatchObject([
      { key: 'a', callers: 1 },
      { key: 'b', callers: 1 },
    ])
    for (const run of begun) run.end()
    expect(await Promise.all([first, other])).toEqual(['a 0.0', 'b 1.0'])
    const later = call('a')
    expect(begun).toHaveLength(3)
    begun[2]?.end()
    expect(await later).toBe('a 2.0')
  })

  test('share the one that begins after all of them, each with a place of its own', async () => {
    const { begun, call } = runs()
    const first = call('a')
    const [second, third] = [call('a'), call('a')]
    expect(begun).toHaveLength(1)
    begun[0]?.end()
    expect(await first).toBe('a 0.0')
    await turn()
    expect(begun[1]).toMatchObject({ callers: 2 })
    const fourth = call('a')
    begun[1]?.end()
    expect(await Promise.all([second, third])).toEqual(['a 1.0', 'a 1.1'])
    await turn()
    begun[2]?.end()
    expect(await fourth).toBe('a 2.0')
  })

  test('fail together, and those that follow do not', async () => {
    const { begun, call } = runs()
    const first = call('a')
    const waiting = [call('a'), call('a')]
    begun[0]?.fail()
    await expect(first).rejects.toThrow('run 0 failed')
    await turn()
    begun[1]?.end()
    expect(await Promise.all(waiting)).toEqual(['a 1.0', 'a 1.1'])
  })

  test('begin by themselves when one takes long', async () => {
    const { begun, call } = runs()
    const lost = call('a')
    const waiting = call('a')
    await waitFor('a call of its own', () => begun[1] ?? null)
    begun[1]?.end()
    expect(await waiting).toBe('a 1.0')
    begun[0]?.end()
    expect(await lost).toBe('a 0.0')
  })

  test('do not wait for one that takes long, and take those along that do', async () => {
    const { begun, call, pass } = runs()
    const lost = call('a')
    const waiting = call('a')
    pass(100)
    const later = call('a')
    expect(begun[1]).toMatchObject({ callers: 2 })
    const next = call('a')
    begun[1]?.end()
    expect(await Promise.all([waiting, later])).toEqual(['a 1.0', 'a 1.1'])
    await turn()
    begun[2]?.end()
    expect(await next).toBe('a 2.0')
    begun[0]?.end()
    expect(await lost).toBe('a 0.0')
    await turn()
    expect(begun).toHaveLength(3)
  })
})
