/** Once per test run: local services in their own directory, a migrated template database, the workflow bundle. */
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../db/orm.ts'
import { freePort } from '../../dev/services/ports.ts'
import { startLocalServices } from '../../dev/services/start-services.ts'
import { workflowBundle } from '../../worker/bundle.ts'
import { publishServices } from './services.ts'

const NAMESPACE = 'billing-test'

export default async function setUp(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'billing-test-'))
  chmodSync(dataDir, 0o755) // as root, PostgreSQL runs as another user, who has to get in
  const bundling = workflowBundle()
  const services = await startLocalServices({
    dataDir,
    temporalNamespace: NAMESPACE,
    temporalPort: await freePort(),
    temporalUiPort: null,
    // A tenth of the default, so that many tests continue in a new history.
    temporalSettings: { 'limit.historyCount.suggestContinueAsNew': 400 },
    durable: false,
    log: (line) => console.log(line),
  })
  Object.assign(globalThis, { stopTestServices: services.stop, testDataDir: dataDir })

  await migrate(services.databaseUrl)
  const bundle = await bundling
  const bundlePath = join(dataDir, 'workflows.js')
  if ('code' in bundle) writeFileSync(bundlePath, bundle.code)
  publishServices({
    adminUrl: new URL('/postgres', services.databaseUrl).href,
    templateName: new URL(services.databaseUrl).pathname.slice(1),
    temporalAddress: services.temporalAddress,
    namespace: NAMESPACE,
    bundlePath,
  })
}
