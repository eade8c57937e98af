/** Node's test environment with a leak guard: a file that leaves a service, process or receiver running fails. */
import { TestEnvironment } from 'jest-environment-node'

export default class GuardedEnvironment extends TestEnvironment {
  handleTestEvent(event, state) {
    if (event.name !== 'run_finish') return
    const left = [...(this.global[Symbol.for('billing.test.open')]?.values() ?? [])]
    if (left.length > 0)
      state.unhandledErrors.push(new Error(`left running when the test file ended: ${left.join(', ')}`))
  }
}
