import { expect, test } from '@jest/globals'
import { NoTurnError, takingTurns } from '../../documents/turns.ts'

function recorder() {
  const inTurn = takingTurns(2)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const run = (organizationId: string, name: string) =>
    inTurn(organizationId, () => {
      begun.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    })
  return { begun, run, end: (name: string) => ends.get(name)?.() }
}

test('documents are made one at a time, those of organizations in turn', async () => {
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
  const inTurn = takingTurns()
  const failing = inTurn('a', async () => {
    throw new Error('no font')
  })
  const following = inTurn('a', async () => 'made')
  await expect(failing).rejects.toThrow('no font')
  expect(await following).toBe('made')
})
