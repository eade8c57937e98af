/**
 * For `NODE_OPTIONS=--import=<this file>`: shifts `Date` by CLOCK_SKEW milliseconds, but not timers or native code.
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
