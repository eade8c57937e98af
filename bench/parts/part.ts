import type { Figure } from '../figure.ts'
import type { Teardown } from '../teardown.ts'
import type { World } from '../world.ts'

export interface PartContext {
  /** The running service; the first part that asks starts it. */
  readonly world: () => Promise<World>
  /** Ends the running service, so that its share of the cores is free. */
  readonly endWorld: () => Promise<void>
  /** For what the part starts itself. */
  readonly teardown: Teardown
  /** A directory of this part alone. */
  readonly directory: string
  /** 1, or 10 when everything is to be ten times smaller. */
  readonly divisor: number
  readonly rounds: number
  readonly say: (line: string) => void
}

export type Part = (context: PartContext) => Promise<Figure[]>
