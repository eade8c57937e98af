import { createHash } from 'node:crypto'
import packageFile from '../package.json' with { type: 'json' }

/** Seven characters of a-z and 0-9, different for every version of the service. */
export const RELEASE = createHash('sha256')
  .update(`${packageFile.name} ${packageFile.version}`)
  .digest('hex')
  .slice(0, 7)

export const VERSION = packageFile.version
