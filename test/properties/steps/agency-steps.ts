import * as fc from 'fast-check'
import { type Generated, numberOf } from './generated.ts'

/** Who is a charging agent and who a business manager, as long as they have the flag. */
export const AGENT = 3
export const MANAGER = 4

export const agencyOpening: readonly AgencyStep[] = [
  { does: 'set flag', user: AGENT, on: true },
  { does: 'set flag', user: MANAGER, on: true },
  ...[1, 2].map((user): AgencyStep => {
    return { does: 'salary', period: 'first', user, dollars: 4_000 * user, agent_dollars: 3_000, target: 0 }
  }),
  // So that even short histories have withdrawals to decide.
  ...[1, 2].flatMap((caller) =>
    [true, false].map((gold): AgencyStep => {
      const target = gold ? AGENT : MANAGER
      return { does: 'withdraw', caller, gold, target, beneficiary: 2, units: 700, agent: !gold }
    }),
  ),
]

/** The withdrawal that a step names; position 1, which is no withdrawal, when there is none. */
export const withdrawalOf = (known: readonly number[], { withdrawal }: { readonly withdrawal: number }): number =>
  known[withdrawal % (known.length + 1)] ?? 1

const user = numberOf(1, 1, 1, 2, 2, 3, 4)
const anyone = numberOf(1, 1, 2, 3, 3, 4, 5)
const cents = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 1_500 }) },
  { weight: 1, arbitrary: fc.constantFrom(5_000, Number.MAX_SAFE_INTEGER) },
)
const zeroOrCents = fc.oneof(fc.constant(0), cents)

/** A withdrawal is named by its index among those requested before the burst. Units are cents. */
const withdraw = fc
  .record({
    caller: user,
    gold: fc.boolean(),
    other: fc.nat({ max: 12 }),
    beneficiary: anyone,
    units: cents,
    agent: fc.boolean(),
  })
  .map(({ gold, other, ...rest }) => {
    const right = gold ? AGENT : MANAGER
    const target = other === 0 ? 1 : other === 1 ? 7 - right : right
    return { does: 'withdraw' as const, gold, target, ...rest }
  })
const changeStatus = fc.record({
  does: fc.constant('change status'),
  /** Null for an operator. */
  caller: fc.constantFrom(null, null, 1, 2, AGENT, MANAGER),
  withdrawal: fc.nat({ max: 20 }),
  to: fc.constantFrom('pending', 'approved', 'approved', 'rejected', 'transferred', 'transferred'),
})
const exchange = fc.record({
  does: fc.constant('exchange'),
  caller: user,
  receiver: anyone,
  units: cents,
  agent: fc.boolean(),
})
const salary = fc.record({
  does: fc.constant('salary'),
  period: fc.constantFrom('first', 'second', 'third'),
  user: anyone,
  dollars: zeroOrCents,
  agent_dollars: zeroOrCents,
  target: numberOf(0, 0, 1, 9, 400),
})
/** Gives or takes the flag of the agent or the manager. */
const setFlag = fc.record({
  does: fc.constant('set flag'),
  user: fc.constantFrom(AGENT, MANAGER),
  on: fc.boolean(),
})

/** A request about dollars. */
export type AgencyStep = Generated<typeof agencyStep>
export type Status = Generated<typeof changeStatus>['to']

export const agencyStep = fc.oneof(
  { weight: 5, arbitrary: withdraw },
  { weight: 6, arbitrary: changeStatus },
  { weight: 2, arbitrary: exchange },
  { weight: 2, arbitrary: salary },
  { weight: 1, arbitrary: setFlag },
)
