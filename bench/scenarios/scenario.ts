import type { Environment } from '../environment.ts'
import type { Metric } from '../metric.ts'
import type { Teardown } from '../teardown.ts'

export interface ScenarioContext {
  /** Returns the running service; the first call starts it. */
  readonly environment: () => Promise<Environment>
  /** Ends the running service, so that it uses no CPU. */
  readonly endEnvironment: () => Promise<void>
  /** For what the part starts itself. */
  readonly teardown: Teardown
  /** A directory of this part alone. */
  readonly directory: string
  /** 1, or 10 to make everything ten times smaller. */
  readonly divisor: number
  readonly rounds: number
  readonly say: (line: string) => void
}

export type Scenario = (context: ScenarioContext) => Promise<Metric[]>
