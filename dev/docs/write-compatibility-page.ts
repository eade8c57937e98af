import { writeFileSync } from 'node:fs'
import { compatibilityPage } from '../../test/compat/page.ts'

writeFileSync(new URL('../../docs/compatibility.md', import.meta.url), compatibilityPage())
