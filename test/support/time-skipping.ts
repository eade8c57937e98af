import type { Client } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { ulid } from 'ulid'

/**
 * Fires every timer until then, in order. Resolves when the execution has ended, or its clock is there, which says
 * nothing of the work of the last instant.
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

/** That the execution ended before the instant counts as failed at the server, and is a success here. */
const FastForward = { POLL_TIMEOUT: 1 }
