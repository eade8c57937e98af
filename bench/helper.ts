/** Helper processes have their own event loops, so that measuring shares none with what is measured. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Teardown } from './teardown.ts'

type Calls = Readonly<Record<string, (argument: never) => Promise<unknown>>>

export interface Helper<C extends Calls> {
  readonly pid: number
  /** Rejects if the helper fails, ends, or takes longer than `timeout` milliseconds. */
  call<N extends keyof C & string>(name: N, argument: Parameters<C[N]>[0], timeout: number): ReturnType<C[N]>
}

interface Question {
  readonly id: number
  readonly name: string
  readonly argument: unknown
}

interface Result {
  readonly id: number
  readonly result?: unknown
  readonly failure?: string
}

/** Starts `bench/processes/<script>`. It ends with the teardown, and by itself when this process has ended. */
export function startHelper<C extends Calls>(script: string, teardown: Teardown): Helper<C> {
  const child = fork(fileURLToPath(new URL(`processes/${script}`, import.meta.url)), {
    execArgv: [],
    serialization: 'advanced',
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${script} could not be started`)
  teardown.add(() => ended(child))
  const waiting = new Map<number, (response: Result) => void>()
  let calls = 0
  child.on('message', (message) => {
    const response = message as Result
    waiting.get(response.id)?.(response)
  })
  child.once('exit', (code, signal) => {
    for (const [id, resolve] of waiting) resolve({ id, failure: `${script} ended (${code ?? signal})` })
  })
  const ask = async (name: string, argument: unknown, timeout: number): Promise<unknown> => {
    calls += 1
    const question: Question = { id: calls, name, argument }
    const response = await new Promise<Result>((resolve) => {
      const late = setTimeout(
        () => resolve({ id: question.id, failure: `${script}: ${name} took more than ${timeout} ms` }),
        timeout,
      )
      waiting.set(question.id, (given) => {
        clearTimeout(late)
        resolve(given)
      })
      child.send(question, (error) => {
        if (error !== null) waiting.get(question.id)?.({ id: question.id, failure: error.message })
      })
    }).finally(() => waiting.delete(question.id))
    if (response.failure !== undefined) throw new Error(response.failure)
    return response.result
  }
  return {
    pid,
    call: (name, argument, timeout) => ask(name, argument, timeout) as ReturnType<C[typeof name]>,
  }
}

export function serveCalls(calls: Calls): void {
  process.on('message', async (message) => {
    const { id, name, argument } = message as Question
    try {
      const call = calls[name]
      if (call === undefined) throw new Error(`there is no call ${name}`)
      process.send?.({ id, result: await call(argument as never) })
    } catch (error) {
      process.send?.({ id, failure: Error.isError(error) ? (error.stack ?? error.message) : String(error) })
    }
  })
  process.once('disconnect', () => process.exit(0))
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000)
  child.disconnect()
  await exited
  clearTimeout(late)
}
