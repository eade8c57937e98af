import type { Environment } from '../environment.ts'
import type { Metric } from '../metric.ts'
import type { Teardown } from '../teardown.ts'

export interface ScenarioContext {
  readonly environment: () => Promise<Environment>
  readonly endEnvironment: () => Promise<void>
  readonly teardown: Teardown
  readonly directory: string
  /** 1, or by how much everything is made smaller. */
  readonly divisor: number
  readonly rounds: number
  readonly say: (line: string) => void
}

export type Scenario = (context: ScenarioContext) => Promise<Metric[]>
