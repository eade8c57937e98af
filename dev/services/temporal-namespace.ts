import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'

export type NamespaceOptions = {
  address: string
  namespace: string
  isHopeless: () => boolean
  signal?: AbortSignal | undefined
}

const RETENTION = '3 days'
const READY_WITHIN = 60_000
/** A server that has lost its database answers some calls never. */
const ATTEMPT_TIMEOUT = 10_000
const GRPC = { notFound: 5, alreadyExists: 6 } as const

/** Registers the namespace if missing. Resolves when workflows can be started in it. */
export async function ensureNamespace(options: NamespaceOptions): Promise<void> {
  const connection = Connection.lazy({ address: options.address })
  try {
    await retried(options, connection, () => register(connection, options.namespace))
    await retried(options, connection, () => probe(connection, options.namespace))
  } finally {
    await connection.close()
  }
}

async function register(connection: Connection, namespace: string): Promise<void> {
  try {
    await connection.workflowService.describeNamespace({ namespace })
  } catch (error) {
    if (codeOf(error) !== GRPC.notFound) throw error
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(RETENTION),
    })
  }
}

/** Queries frontend, history, matching and visibility in the namespace. */
async function probe(connection: Connection, namespace: string): Promise<void> {
  const service = connection.workflowService
  await service.countWorkflowExecutions({ namespace })
  await service.describeTaskQueue({ namespace, taskQueue: { name: 'probe' }, taskQueueType: 1 })
  try {
    await service.describeWorkflowExecution({ namespace, execution: { workflowId: 'probe' } })
  } catch (error) {
    // "No such workflow" comes from history, which therefore knows the namespace.
    if (codeOf(error) !== GRPC.notFound || String(error).includes('amespace')) throw error
  }
}

async function retried(
  options: NamespaceOptions,
  connection: Connection,
  attempt: () => Promise<void>,
): Promise<void> {
  const end = Date.now() + READY_WITHIN
  for (;;) {
    options.signal?.throwIfAborted()
    try {
      return await connection.withDeadline(Date.now() + ATTEMPT_TIMEOUT, attempt)
    } catch (error) {
      if (codeOf(error) === GRPC.alreadyExists) return
      if (options.isHopeless() || Date.now() > end) throw error
      await delay(50)
    }
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}
