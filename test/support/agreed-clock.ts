import type { AgreedClock } from '../../db/clock-agreement.ts'

/** Of a test that shares its machine, and its clock, with the database. */
export const AGREED: AgreedClock = { agrees: () => true, changed: () => new Promise(() => {}) }
