import { rmSync } from 'node:fs'

export default async function tearDown(): Promise<void> {
  const { stopTestEngines, testDataDir } = globalThis as typeof globalThis & {
    stopTestEngines?: () => Promise<void>
    testDataDir?: string
  }
  await stopTestEngines?.()
  if (testDataDir !== undefined) rmSync(testDataDir, { recursive: true, force: true })
}
