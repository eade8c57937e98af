import { expect, test } from '@jest/globals'
import { NoTurnError, takingTurns } from '../../api/turns.ts'

function recorder(atOnce = 1) {
  const inTurn = takingTurns({ atOnce, mostWaiting: 2 })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const run = (organizationId: string, name: string, isGone = () => false) =>
    inTurn({ organizationId, isGone }, () => {
      begun.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    })
  return { begun, run, end: (name: string) => ends.get(name)?.() }
}

test('tasks are done one at a time, those of organizations in turn', async () => {
  const { begun, run, end } = recorder()
  const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1'), run('c', 'c1'), run('b', 'b2')]
  expect(begun).toEqual(['a1'])
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) {
    expect(begun.at(-1)).toBe(name)
    end(name)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'b2'])
})

test('two at once are begun in the same order', async () => {
  const { begun, run, end } = recorder(2)
  const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('a', 'a4'), run('b', 'b1')]
  expect(begun).toEqual(['a1', 'a2'])
  for (const [name, following] of [
    ['a2', ['a3']],
    ['a1', ['b1']],
    ['b1', ['a4']],
    ['a3', []],
    ['a4', []],
  ] as const) {
    const before = begun.length
    end(name)
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun.slice(before)).toEqual(following)
  }
  await Promise.all(all)
  const last = [run('c', 'c1'), run('c', 'c2'), run('c', 'c3')]
  expect(begun.slice(-2)).toEqual(['c1', 'c2'])
  for (const name of ['c1', 'c2', 'c3']) {
    end(name)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await Promise.all(last)).toEqual(['c1', 'c2', 'c3'])
})

test('an organization has only so many that wait', async () => {
  const { run, end } = recorder()
  const first = run('a', 'a1')
  const others = [run('a', 'a2'), run('a', 'a3')]
  await expect(run('a', 'a4')).rejects.toThrow(NoTurnError)
  const other = run('b', 'b1')
  for (const name of ['a1', 'a2', 'b1', 'a3']) {
    end(name)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await Promise.all([first, ...others, other])).toEqual(['a1', 'a2', 'a3', 'b1'])
})

test('one that fails lets the next one begin', async () => {
  const inTurn = takingTurns({ atOnce: 1, mostWaiting: 2 })
  const turn = { organizationId: 'a', isGone: () => false }
  const failing = inTurn(turn, async () => {
    throw new Error('no font')
  })
  const following = inTurn(turn, async () => 'made')
  await expect(failing).rejects.toThrow('no font')
  expect(await following).toBe('made')
})

test('one that nobody waits for any more is not made', async () => {
  const { begun, run, end } = recorder()
  let isGone = false
  const first = run('a', 'a1')
  const left = expect(run('a', 'a2', () => isGone)).rejects.toThrow(NoTurnError)
  const last = run('b', 'b1')
  isGone = true
  end('a1')
  await left
  await new Promise((resolve) => setImmediate(resolve))
  end('b1')
  expect(await Promise.all([first, last])).toEqual(['a1', 'b1'])
  expect(begun).toEqual(['a1', 'b1'])
})
