/**
 * Looks for card data in the clear in whatever a test run leaves behind: answers, logs, rows, histories, files on disk.
 *
 * Numbers are looked for as they are. A security code is too short for that among bytes, so there it is looked for in
 * the shape in which requests and the vault hold it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { TEST_CARDS, TEST_CVV } from './cards.ts'

const NUMBERS = Object.values(TEST_CARDS)
/** `"cvv": "123"`, however the quotes were escaped on the way. */
const CODE_MEMBER = 'cvv[\\\\"]{0,4} ?: ?[\\\\"]{0,4}[0-9]{3,4}'
/** What is looked for. */
export const CARD_DATA = new RegExp(`${NUMBERS.join('|')}|${CODE_MEMBER}`)

/** Whether the text holds the number or the code of a test card. */
export function holdsCardData(text: string): boolean {
  return CARD_DATA.test(text) || new RegExp(`(?<![0-9A-Za-z.-])${TEST_CVV}(?![0-9A-Za-z.-])`).test(text)
}

/** @throws Error naming the place, and nothing of what was found there. */
export function requireNoCardData(place: string, text: string): void {
  if (holdsCardData(text)) throw new Error(`card data in the clear in ${place}`)
}

/** The tables of a database, all schemas, that hold card data in any column of any row. */
export async function tablesWithCardData(databaseUrl: string, wanted = CARD_DATA): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`,
    )
    const found: string[] = []
    for (const { name } of tables) {
      const { rowCount } = await client.query(`select from ${name} row where row::text ~ $1 limit 1`, [
        wanted.source,
      ])
      if (rowCount !== 0) found.push(name)
    }
    return found
  } finally {
    await client.end()
  }
}

/** The files below a directory that hold card data: data files and write-ahead log of PostgreSQL, logs of the local services. */
export function filesWithCardData(directory: string, wanted = CARD_DATA): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile()) return []
    const path = join(entry.parentPath, entry.name)
    // One byte a character: bytes that are no text cannot hide the ones that are.
    return wanted.test(readFileSync(path, 'latin1')) ? [path] : []
  })
}
