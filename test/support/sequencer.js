/** Jest's own order, but the kill test last: it saturates the machine, and the others should not have to share it. */
import TestSequencer from '@jest/test-sequencer'

const Base = TestSequencer.default ?? TestSequencer

export default class KillLastSequencer extends Base {
  sort(tests) {
    const sorted = super.sort([...tests])
    const kills = (test) => test.path.includes('/test/chaos/')
    return [...sorted.filter((test) => !kills(test)), ...sorted.filter(kills)]
  }
}
