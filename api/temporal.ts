/** Lets executions skip time. Writes never wait for Temporal. */
import { Client, Connection, isGrpcServiceError } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { clientConnection, type TemporalConnection } from '../config/temporal-connection.ts'
import { Problem } from './http/problems.ts'

export interface TemporalService {
  /** Throws `not-implemented` with the setting to enable, or `unavailable` if Temporal cannot be reached. */
  requireTimeSkipping(): Promise<void>
  /**
   * Skips `milliseconds`; timers in between fire in order, and their work is done. `id` identifies the skip.
   * Returns false if no such execution runs. Throws as above.
   */
  skipTime(workflowId: string, id: string, milliseconds: number): Promise<boolean>
  close(): Promise<void>
}

/** Milliseconds. */
const TIMEOUT = 3_000
/** Temporal's own limit of timers in one skip may be far lower. */
const MOST_SKIPS = 100_000

const gRPC = { cancelled: 1, deadlineExceeded: 4, notFound: 5, unimplemented: 12, unavailable: 14 }

export function connectTemporal(target: TemporalConnection, namespace: string): TemporalService {
  const client = new Client({ connection: Connection.lazy(clientConnection(target)), namespace })
  const { workflowService } = client
  const ask = async (question: () => Promise<unknown>): Promise<boolean> => {
    try {
      await client.connection.withDeadline(Date.now() + TIMEOUT, question)
      return true
    } catch (error) {
      const code = isGrpcServiceError(error) ? error.code : null
      switch (code) {
        case gRPC.notFound:
          return false
        case gRPC.unimplemented:
          throw new Problem(
            'not-implemented',
            'The connected Temporal server cannot skip time. It needs version 1.32 or newer and the dynamic configuration frontend.WorkflowTimeSkippingEnabled set to true.',
          )
        case gRPC.cancelled:
        case gRPC.deadlineExceeded:
        case gRPC.unavailable:
          throw new Problem(
            'unavailable',
            'Temporal, which moves the clocks, cannot be reached.',
            { headers: { 'Retry-After': '5' } },
            { cause: error },
          )
        default:
          throw error
      }
    }
  }
  return {
    async requireTimeSkipping() {
      // The request names a nonexistent execution: Temporal checks first whether the feature is enabled.
      await ask(() =>
        workflowService.pollWorkflowExecutionTimeSkipping({
          namespace,
          workflowExecution: { workflowId: 'none' },
          fastForwardId: 'none',
        }),
      )
    },
    skipTime: (workflowId, id, milliseconds) =>
      ask(() =>
        workflowService.updateWorkflowExecutionOptions({
          namespace,
          workflowExecution: { workflowId },
          workflowExecutionOptions: {
            timeSkippingConfig: {
              enabled: true,
              maxSessionSkipCount: MOST_SKIPS,
              fastForwardConfig: { id, duration: msToTs(milliseconds) },
            },
          },
          updateMask: { paths: ['time_skipping_config'] },
        }),
      ),
    close: () => client.connection.close(),
  }
}
