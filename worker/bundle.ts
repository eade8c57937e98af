import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { WorkflowBundle } from '@temporalio/worker'

/** Bundles the workflows in a child process, because the bundler would keep a hundred megabytes in ours. */
export async function workflowBundle(): Promise<WorkflowBundle> {
  const bundler = fork(fileURLToPath(new URL('bundle-process.ts', import.meta.url)), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Outside the terminal's process group: this process handles Ctrl-C and ends the bundler.
    detached: true,
  })
  return await new Promise((resolve, reject) => {
    bundler.once('message', (bundle) => resolve(bundle as WorkflowBundle))
    bundler.once('error', reject)
    bundler.once('exit', (code) => reject(new Error(`bundling the workflows ended with ${code}`)))
  })
}
