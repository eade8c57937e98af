import { afterEach, expect, test } from '@jest/globals'
import { startWatchdog, type Watchdog } from '../../worker/watchdog.ts'
import { waitFor } from '../support/wait-for.ts'

let watchdog: Watchdog | null = null
afterEach(() => watchdog?.stop())

function watching() {
  const reported: string[] = []
  watchdog = startWatchdog({ limit: 10, tick: 20, onStalled: (name) => void reported.push(name) })
  return { reported, watchdog }
}

test('work without progress stalls, is reported once, and is no longer stalled once it goes on', async () => {
  const { reported, watchdog } = watching()
  const stuck = watchdog.watch('relay')
  const busy = watchdog.watch('sweep')
  const moving = setInterval(() => busy.progress(), 10)
  try {
    await waitFor('the relay to stall', () => (watchdog.stalled().length > 0 ? true : null))
    expect(watchdog.stalled()).toEqual(['relay'])
    const later = watchdog.watch('later')
    await waitFor('the later one to stall too', () => (reported.includes('later') ? true : null))
    later.end()
    expect(reported).toEqual(['relay', 'later'])
    stuck.progress()
    expect(watchdog.stalled()).toEqual([])
  } finally {
    clearInterval(moving)
  }
})

test('work that ends is forgotten', async () => {
  const { reported, watchdog } = watching()
  watchdog.watch('done').end()
  watchdog.watch('stuck')
  await waitFor('the other one to stall', () => (reported.length > 0 ? true : null))
  expect(reported).toEqual(['stuck'])
})
