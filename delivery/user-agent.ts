import { RELEASE } from '../config/release.ts'

/** Of every request to a receiver (specification 6.1). */
export const USER_AGENT = `Service/${RELEASE}`
