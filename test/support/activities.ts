/** Activities of a service, called by a test in place of a workflow. */
import { createOrderAdvancer } from '../../activities/advance-order.ts'
import type { ActivityDependencies } from '../../activities/dependencies.ts'
import type { Quarantine } from '../../activities/quarantine.ts'
import { createLog } from '../../config/log.ts'
import { RetryPlaces } from '../../delivery/retry-places.ts'
import type { Gateway } from '../../gateways/port.ts'
import type { TestService } from './service.ts'

export interface ActivityOptions {
  readonly gateway?: Gateway
  readonly logged?: string[]
  readonly unresolved?: { inc(): void }
  readonly unpaidRefunds?: { inc(): void }
  /** Instants may lead the real time, as those of executions that skip time do. Default true. */
  readonly skipsTime?: boolean
}

const NEVER: Quarantine = {
  async add(_workflow, _key, error) {
    throw error
  },
  guard: async (_workflow, _input, advance) => await advance(),
}

export function activityDependencies(
  service: TestService,
  {
    gateway,
    logged = [],
    unresolved = { inc() {} },
    unpaidRefunds = { inc() {} },
    skipsTime = true,
  }: ActivityOptions = {},
): ActivityDependencies {
  const em = () => service.database.orm.em.fork()
  const log = createLog('error', { write: (line) => void logged.push(line) })
  const shared = {
    em,
    log,
    baseUrl: service.baseUrl,
    now: Date.now,
    skipsTime,
    clock: { requireAgreement() {} },
    quarantine: NEVER,
  }
  return {
    ...shared,
    orders: createOrderAdvancer(shared),
    gateway: gateway ?? ({} as Gateway),
    unresolved,
    unpaidRefunds,
    attempts: {} as ActivityDependencies['attempts'],
    places: new RetryPlaces(),
    isVisible: () => false,
  }
}
