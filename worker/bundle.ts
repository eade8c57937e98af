import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker'

/** The workflows as one script for the sandbox. */
export async function workflowBundle(): Promise<WorkflowBundleOption> {
  const workflowsPath = fileURLToPath(new URL('../workflows/workflows.ts', import.meta.url))
  return await bundleWorkflowCode({ workflowsPath, logger: QUIET })
}

const nothing = () => {}
const QUIET = {
  log: nothing,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: console.error,
}
