/**
 * Shifts the clock of the process that is started with `NODE_OPTIONS=--import=<this file>`, by CLOCK_SKEW milliseconds.
 *
 * It stands in for libfaketime, which no npm package brings: what the process reads of `Date` is wrong, as with a wrong
 * clock of its machine. Timers, and Temporal's native code, go on by the real clock.
 */
const skew = Number(process.env.CLOCK_SKEW)
const RealDate = Date
const now = (): number => RealDate.now() + skew

globalThis.Date = new Proxy(RealDate, {
  construct: (target, values, newTarget) =>
    Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget),
  apply: (target) => new target(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
})
