import * as fc from 'fast-check'
import { type Generated, numberOf } from './generated.ts'

/** Creates packages 1 to 4; package 5 is unknown at first. */
export const privilegeOpening: readonly PrivilegeStep[] = [
  ...[1, 2, 3, 5].map((rank, i): PrivilegeStep => ({ does: 'define package', of: i + 1, rank, days: 2 + 5 * i })),
  ...[1, 2, 3, 4, 1, 2].map((of, i): PrivilegeStep => ({ does: 'grant', user: i < 5 ? 1 : 2, of, quantity: 3 })),
]

/** The card that a step names; position 1, which is no card, when there is none. */
export const cardOf = (cards: readonly number[], { card }: { readonly card: number }): number =>
  cards[card % (cards.length + 1)] ?? 1

const user = numberOf(1, 1, 1, 1, 1, 2, 3)
const anyone = numberOf(1, 1, 1, 2, 3, 4, 5)
const of = numberOf(1, 1, 2, 2, 3, 3, 4, 4, 5)
const card = fc.nat({ max: 40 })
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

const definePackage = fc.record({
  does: fc.constant('define package'),
  of,
  rank: maybe(fc.integer({ min: 1, max: 6 })),
  days: maybe(fc.integer({ min: 1, max: 12 })),
})
const grant = fc.record({ does: fc.constant('grant'), user: anyone, of, quantity: fc.integer({ min: 1, max: 4 }) })

/** A request about the privilege wallet. A card is named by its index among those granted before the burst. */
export type PrivilegeStep = Generated<typeof privilegeStep>

export const privilegeStep = fc.oneof(
  { weight: 1, arbitrary: definePackage },
  { weight: 1, arbitrary: grant },
  { weight: 6, arbitrary: fc.record({ does: fc.constant('activate'), caller: user, card }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('transfer'), caller: user, card, receiver: anyone }) },
)
