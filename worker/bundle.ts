import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { WorkflowBundle } from '@temporalio/worker'

/**
 * The workflows as one script for the sandbox. Made by a process of its own: the bundler would leave a hundred
 * megabytes in ours for as long as it runs.
 */
export async function workflowBundle(): Promise<WorkflowBundle> {
  const bundler = fork(fileURLToPath(new URL('bundle-process.ts', import.meta.url)), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Out of the terminal's process group: a Ctrl-C is this process's to handle, with which the bundler ends.
    detached: true,
  })
  return await new Promise((resolve, reject) => {
    bundler.once('message', (bundle) => resolve(bundle as WorkflowBundle))
    bundler.once('error', reject)
    bundler.once('exit', (code) => reject(new Error(`bundling the workflows ended with ${code}`)))
  })
}
