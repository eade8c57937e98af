import { rmSync } from 'node:fs'
import { filesWithCardData } from './card-data.ts'

export default async function tearDown(): Promise<void> {
  const { stopTestEngines, testDataDir } = globalThis as typeof globalThis & {
    stopTestEngines?: () => Promise<void>
    testDataDir?: string
  }
  await stopTestEngines?.()
  if (testDataDir === undefined) return
  const found = filesWithCardData(testDataDir)
  rmSync(testDataDir, { recursive: true, force: true })
  // Rows of dropped databases are still in the write-ahead log, and histories in the engine's tables.
  if (found.length > 0) throw new Error(`card data in the clear in ${found.join(', ')}`)
}
