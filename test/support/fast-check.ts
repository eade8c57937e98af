/**
 * fast-check as all tests use it. `PROPERTY_SEED` fixes what it tries, so that `.ci/run` fails for what was changed
 * and not by chance; without it each run tries something else.
 */
import fc from 'fast-check'

const { PROPERTY_SEED } = process.env
if (PROPERTY_SEED !== undefined) fc.configureGlobal({ seed: Number(PROPERTY_SEED) })

export default fc
