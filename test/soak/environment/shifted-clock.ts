/**
 * Loaded before the service by NODE_OPTIONS=--import=…: shifts its wall clock by CLOCK_SHIFTS, a comma-separated list of
 * hours, each for CLOCK_EVERY_MS in turn.
 */
const HOUR_MS = 3_600_000
const shifts = (process.env['CLOCK_SHIFTS'] ?? '').split(',').map(Number)
const every = Number(process.env['CLOCK_EVERY_MS'])

const RealDate = Date
const realNow = Date.now
const started = performance.now()

const shiftedNow = (): number => {
  const turn = Math.floor((performance.now() - started) / every) % shifts.length
  return realNow() + (shifts[turn] ?? 0) * HOUR_MS
}

Date.now = shiftedNow
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: unknown[], self) =>
    Reflect.construct(target, args.length === 0 ? [shiftedNow()] : args, self),
  apply: () => new RealDate(shiftedNow()).toString(),
})
