/** A security code is too short to search for among bytes: it is searched for by its shape in requests. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { TEST_CARDS, TEST_CVV } from './cards.ts'

const NUMBERS = Object.values(TEST_CARDS)
/** `"cvv": "123"`, however the quotes were escaped on the way. */
const CODE_MEMBER = 'cvv[\\\\"]{0,4} ?: ?[\\\\"]{0,4}[0-9]{3,4}'
export const CARD_DATA = new RegExp(`${NUMBERS.join('|')}|${CODE_MEMBER}`)

export function holdsCardData(text: string): boolean {
  return CARD_DATA.test(text) || new RegExp(`(?<![0-9A-Za-z.-])${TEST_CVV}(?![0-9A-Za-z.-])`).test(text)
}

/** @throws Error naming the place, and nothing of what was found there. */
export function requireNoCardData(place: string, text: string): void {
  if (holdsCardData(text)) throw new Error(`card data in the clear in ${place}`)
}

/** Returns the tables, in all schemas, that have card data in any column of any row. */
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

export function filesWithCardData(directory: string, wanted = CARD_DATA): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile()) return []
    const path = join(entry.parentPath, entry.name)
    // One byte a character: bytes that are no text cannot hide the ones that are.
    return wanted.test(readFileSync(path, 'latin1')) ? [path] : []
  })
}
