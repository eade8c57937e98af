/** `npm run migration:create -- <name>`: add the migration to `db/migrations/index.ts` by hand. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openOrm } from '../../db/orm.ts'

const [name] = process.argv.slice(2)
const databaseUrl = process.env.DATABASE_URL
if (name === undefined || databaseUrl === undefined) {
  console.error('usage: DATABASE_URL=… npm run migration:create -- <name>')
  process.exit(2)
}
const orm = await openOrm({ databaseUrl, poolSize: 2 })
try {
  const { fileName } = await orm.migrator.create(undefined, false, false, name)
  // Comments on tables and columns are written by hand, and only in the migrations.
  const path = join('db/migrations', fileName)
  const lines = readFileSync(path, 'utf8').split('\n')
  writeFileSync(path, lines.filter((line) => !line.includes('comment on ')).join('\n'))
  console.log(fileName)
} finally {
  await orm.close()
}
