/** What was started and has to end: last first, each once, whoever asks first. */

export interface Teardown {
  /** Remembers a step; when the end has begun already, the step is taken at once and this throws. */
  add(step: () => unknown): void
  /** Takes every step, also when one fails, and everyone who asks waits for the same end. */
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
