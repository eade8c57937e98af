import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode } from '@temporalio/worker'

const nothing = () => {}
const logger = {
  log: nothing,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: console.error,
}

process.once('disconnect', () => process.exit())
const workflowsPath = fileURLToPath(new URL('../workflows/workflows.ts', import.meta.url))
process.send?.(await bundleWorkflowCode({ workflowsPath, logger }), () => process.disconnect())
