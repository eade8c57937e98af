/** Moves an execution's clock forward with the server's own time skipping. */
import type { Client } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { ulid } from 'ulid'

/**
 * Skips `milliseconds` of an execution's time: every timer until then fires, in order, with its work in between.
 * Resolves when the clock is there, which says nothing of the work of the last instant, or when the execution ended.
 */
export async function skipTime(client: Client, workflowId: string, milliseconds: number): Promise<void> {
  const { namespace } = client.options
  const workflowExecution = { workflowId }
  const fastForwardId = ulid()
  await client.workflowService.updateWorkflowExecutionOptions({
    namespace,
    workflowExecution,
    workflowExecutionOptions: {
      timeSkippingConfig: {
        enabled: true,
        fastForwardConfig: { id: fastForwardId, duration: msToTs(milliseconds) },
      },
    },
    updateMask: { paths: ['time_skipping_config'] },
  })
  const { POLL_TIMEOUT } = FastForward
  let result = POLL_TIMEOUT
  while (result === POLL_TIMEOUT) {
    const response = await client.connection.withDeadline(Date.now() + 60_000, () =>
      client.workflowService.pollWorkflowExecutionTimeSkipping({
        namespace,
        workflowExecution,
        fastForwardId,
      }),
    )
    result = response.fastForwardPollingResult
  }
}

/** Results of a poll; that the execution ended before the instant counts as failed there, and is a success here. */
const FastForward = { POLL_TIMEOUT: 1 }
