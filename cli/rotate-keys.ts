/** `npm run keys:rotate`: creates a key for customers' JWTs, used at once, and one for webhooks, used later. */

import { rotateCustomerTokenKey } from '../commands/access/customer-token-keys.ts'
import { ConfigurationError, loadConfig } from '../config/config.ts'
import { startFailure } from '../config/process.ts'
import { databaseTime } from '../db/clock-agreement.ts'
import { openDatabase } from '../db/open.ts'
import { rotateSigningKey } from '../delivery/signing-keys.ts'

try {
  const { databaseUrl, masterKeys } = loadConfig(process.env)
  if (databaseUrl === null) throw new ConfigurationError(['DATABASE_URL is required'])
  if (masterKeys.length === 0) throw new ConfigurationError(['MASTER_KEY is required'])
  const database = await openDatabase({ databaseUrl, masterKeys, poolSize: 2 })
  try {
    // This machine's clock may be wrong: processes would sign too early, or hours later.
    const now = new Date(await databaseTime(database.orm.em.fork()))
    // First: the other one is refused while the last key for webhooks does not sign yet.
    await rotateCustomerTokenKey(database.orm.em.fork(), database.vault, now)
    console.log("Customers' JWTs are signed with a new key.")
    const { kid, signsFrom } = await rotateSigningKey(database.orm.em.fork(), database.vault, now)
    console.log(`Published the key ${kid}; every process signs with it from ${signsFrom.toISOString()}.`)
  } finally {
    await database.orm.close()
  }
} catch (error) {
  console.error(startFailure(error))
  process.exit(1)
}
