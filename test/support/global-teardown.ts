import { rmSync } from 'node:fs'
import { filesWithCardData } from './card-data.ts'

export default async function tearDown(): Promise<void> {
  const { stopTestServices, testDataDir } = globalThis as typeof globalThis & {
    stopTestServices?: () => Promise<void>
    testDataDir?: string
  }
  await stopTestServices?.()
  if (testDataDir === undefined) return
  const found = filesWithCardData(testDataDir)
  rmSync(testDataDir, { recursive: true, force: true })
  // Rows of dropped databases are still in the write-ahead log, and histories in Temporal's tables.
  if (found.length > 0) throw new Error(`card data in the clear in ${found.join(', ')}`)
}
