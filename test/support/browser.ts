/** A headless Chromium with a fresh profile that can reach nothing but the service. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { withLock } from '../../dev/services/lock.mjs'
import { closed, opened } from './open-things.ts'

export interface Browser {
  readonly profile: string
  /** Addresses it has requested, in order. */
  readonly asked: readonly string[]
  /** Errors of its pages and their consoles, refusals by the content security policy among them. */
  readonly complaints: readonly string[]
  page(): Promise<Page>
  /** Ends it, so that everything it keeps is on disk. */
  quit(): Promise<void>
  close(): Promise<void>
}

const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Nothing but this machine has an address.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

/** @throws Error naming what to install if there is no Chromium. */
export async function startBrowser(
  options: { readonly colorScheme?: 'light' | 'dark' } = {},
): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'billing-browser-'))
  const context: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath: await chromiumPath(),
    headless: true,
    args: QUIET,
    locale: 'en-GB',
    ...options,
  })
  context.setDefaultTimeout(15_000)
  const asked: string[] = []
  const complaints: string[] = []
  context.on('request', (request) => asked.push(request.url()))
  context.on('weberror', (problem) => complaints.push(problem.error().message))
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  let running = true
  const browser: Browser = {
    profile,
    asked,
    complaints,
    page: () => context.newPage(),
    async quit() {
      if (running) await context.close()
      running = false
    },
    async close() {
      await browser.quit()
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
      closed(browser)
    },
  }
  return opened(browser, 'browser')
}

/** `CHROMIUM_PATH`, else a Chromium or Chrome on the PATH, else the one in a package of the tests. */
async function chromiumPath(): Promise<string> {
  const { CHROMIUM_PATH, PATH = '' } = process.env
  if (CHROMIUM_PATH !== undefined && CHROMIUM_PATH !== '') return CHROMIUM_PATH
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const found = PATH.split(delimiter)
      .map((directory) => join(directory, name))
      .find((path) => existsSync(path))
    if (found !== undefined) return found
  }
  try {
    return await packagedChromium()
  } catch (error) {
    throw new Error(
      'No Chromium: install one (Debian: apt-get install chromium), or name it in CHROMIUM_PATH, such as ' +
        '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome on macOS.',
      { cause: error },
    )
  }
}

/** @throws Error if it does not run here: it is made for Linux, and needs libraries such as libnss3. */
async function packagedChromium(): Promise<string> {
  if (process.platform !== 'linux') throw new Error('The one in a package of the tests is for Linux.')
  const { default: packaged } = await import('@sparticuz/chromium')
  // It unpacks into a place that all runs share.
  const path = await withLock(join(tmpdir(), 'billing-chromium.lock'), () => packaged.executablePath())
  await promisify(execFile)(path, ['--version'])
  return path
}
