import { afterEach, expect, test } from '@jest/globals'
import { startWatchdog, type Watchdog } from '../../worker/watchdog.ts'
import { waitFor } from '../support/wait-for.ts'

let watchdog: Watchdog | null = null
afterEach(() => watchdog?.stop())

function watching() {
  const told: string[] = []
  watchdog = startWatchdog({ limit: 10, tick: 20, onStanding: (name) => void told.push(name) })
  return { told, watchdog }
}

test('work without progress stands, is told of once, and stands no more once it goes on', async () => {
  const { told, watchdog } = watching()
  const stuck = watchdog.watch('relay')
  const busy = watchdog.watch('sweep')
  const moving = setInterval(() => busy.progress(), 10)
  try {
    await waitFor('the relay to stand', () => (watchdog.standing().length > 0 ? true : null))
    expect(watchdog.standing()).toEqual(['relay'])
    const later = watchdog.watch('later')
    await waitFor('the later one to stand too', () => (told.includes('later') ? true : null))
    later.end()
    expect(told).toEqual(['relay', 'later'])
    stuck.progress()
    expect(watchdog.standing()).toEqual([])
  } finally {
    clearInterval(moving)
  }
})

test('work that ends is forgotten', async () => {
  const { told, watchdog } = watching()
  watchdog.watch('done').end()
  watchdog.watch('stuck')
  await waitFor('the other one to stand', () => (told.length > 0 ? true : null))
  expect(told).toEqual(['stuck'])
})
