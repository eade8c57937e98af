/** Ends what was started: last first, each once. */

export interface Teardown {
  /** Adds a step. If the end has begun already, the step runs at once and this throws. */
  add(step: () => unknown): void
  /** Runs every step, even if one fails. All callers wait for the same end. */
  run(): Promise<void>
}

export function createTeardown(): Teardown {
  const steps: (() => unknown)[] = []
  let ending: Promise<void> | null = null
  const undo = async (): Promise<void> => {
    const failures: unknown[] = []
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '))
  }
  return {
    add(step) {
      if (ending === null) return void steps.push(step)
      void step()
      throw new Error('the benchmark is ending')
    },
    run() {
      ending ??= undo()
      return ending
    },
  }
}
