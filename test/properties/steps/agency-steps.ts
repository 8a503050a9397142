import * as fc from 'fast-check'

const statuses = ['pending', 'approved', 'rejected', 'transferred'] as const
export type Status = (typeof statuses)[number]

/** Who is a charging agent and who a business manager, as long as they have the flag. */
export const AGENT = 3
export const MANAGER = 4

/** A request about dollars. A withdrawal is named by its index among those requested before the burst. */
export type AgencyStep =
  | {
      readonly does: 'withdraw'
      readonly caller: number
      readonly gold: boolean
      readonly target: number
      readonly beneficiary: number
      /** Cents. */
      readonly units: number
      readonly agent: boolean
    }
  /** Null for an operator. */
  | { readonly does: 'change status'; readonly caller: number | null; readonly withdrawal: number; readonly to: Status }
  | {
      readonly does: 'exchange'
      readonly caller: number
      readonly receiver: number
      readonly units: number
      readonly agent: boolean
    }
  | {
      readonly does: 'salary'
      readonly period: string
      readonly user: number
      readonly dollars: number
      readonly agent_dollars: number
      readonly target: number
    }
  /** Gives or takes the flag of the agent or the manager. */
  | { readonly does: 'set flag'; readonly user: typeof AGENT | typeof MANAGER; readonly on: boolean }

export const agencyOpening: readonly AgencyStep[] = [
  { does: 'set flag', user: AGENT, on: true },
  { does: 'set flag', user: MANAGER, on: true },
  ...[1, 2].map((user): AgencyStep => {
    return { does: 'salary', period: 'first', user, dollars: 4_000 * user, agent_dollars: 3_000, target: 0 }
  }),
]

/** The withdrawal that a step names; position 1, which is no withdrawal, when there is none. */
export const withdrawalOf = (known: readonly number[], { withdrawal }: { readonly withdrawal: number }): number =>
  known[withdrawal % (known.length + 1)] ?? 1

const user = fc.constantFrom(1, 1, 1, 2, 2, 3, 4)
const anyone = fc.constantFrom(1, 1, 2, 3, 3, 4, 5)
const cents = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 1_500 }) },
  { weight: 1, arbitrary: fc.constantFrom(5_000, Number.MAX_SAFE_INTEGER) },
)
const zeroOrCents = fc.oneof(fc.constant(0), cents)

export const agencyStep: fc.Arbitrary<AgencyStep> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .record({
        caller: user,
        gold: fc.boolean(),
        other: fc.nat({ max: 12 }),
        beneficiary: anyone,
        units: cents,
        agent: fc.boolean(),
      })
      .map(({ gold, other, ...rest }): AgencyStep => {
        const right = gold ? AGENT : MANAGER
        return { does: 'withdraw', gold, target: other === 0 ? 1 : other === 1 ? 7 - right : right, ...rest }
      }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('change status'),
      caller: fc.constantFrom(null, null, 1, 2, AGENT, MANAGER),
      withdrawal: fc.nat({ max: 20 }),
      to: fc.constantFrom('pending', 'approved', 'approved', 'rejected', 'transferred', 'transferred'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('exchange'),
      caller: user,
      receiver: anyone,
      units: cents,
      agent: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('salary'),
      period: fc.constantFrom('first', 'second', 'third'),
      user: anyone,
      dollars: zeroOrCents,
      agent_dollars: zeroOrCents,
      target: fc.constantFrom(0, 0, 1, 9, 400),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('set flag'), user: fc.constantFrom(AGENT, MANAGER), on: fc.boolean() }),
  },
)
