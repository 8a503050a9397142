import * as fc from 'fast-check'
import { MAX_INTEGER } from '../../../schema/common.ts'
import type { GiftKind } from '../../../schema/events.ts'
import { type Currency, currencies } from '../../../src/ledger/rules/account.ts'
import { agencyOpening, agencyStep } from './agency-steps.ts'
import { type Generated, numberOf } from './generated.ts'
import { type MemberStep, memberStep } from './member-steps.ts'
import { privilegeOpening, privilegeStep } from './privilege-steps.ts'
import { rouletteStep } from './roulette-steps.ts'

/** A request, valid or not. */
export type Step = Generated<typeof step> | MemberStep
export type DefineGift = Extract<Step, { does: 'define gift' }>

/** Steps that arrive together, `wait` microseconds after those before. */
export interface Burst {
  readonly wait: number
  readonly steps: readonly Step[]
}

/** Creates users 1 to 4, rooms 1 and 2 and gifts 1 to 3; user 5, room 3 and gift 4 are unknown at first. */
export const USERS = [1, 2, 3, 4] as const

const gift = (gift: number, kind: GiftKind, price: number, odds?: DefineGift['odds']): DefineGift => ({
  does: 'define gift',
  gift,
  kind,
  price,
  odds,
})
const funding = (user: number, units: number, currency: Currency = 'diamonds'): Step => ({
  does: 'credit',
  user,
  currency,
  units,
})

export const opening: readonly Step[] = [
  { does: 'define room', room: 1, owner: 1 },
  { does: 'define room', room: 2, owner: 4 },
  gift(1, 'lucky', 10, [
    { multiplier: 0, weight: 6 },
    { multiplier: 1.5, weight: 3 },
    { multiplier: 4, weight: 1 },
  ]),
  gift(2, 'standard', 37),
  gift(3, 'returnable', 25),
  funding(1, 20_000),
  funding(2, 9_000),
  funding(3, 500),
  funding(1, 300, 'coins'),
  funding(2, 200, 'coins'),
  funding(3, 60, 'coins'),
  funding(4, 100, 'coins'),
  { does: 'fill bag', user: 1, gift: 1, quantity: 40 },
  { does: 'fill bag', user: 2, gift: 2, quantity: 9 },
  ...privilegeOpening,
  ...agencyOpening,
]

/** Mostly the first, so that steps succeed; sometimes the second, so that they are refused. */
const mostly = <A, B>(often: fc.Arbitrary<A>, seldom: fc.Arbitrary<B>, weight = 15): fc.Arbitrary<A | B> =>
  fc.oneof({ weight, arbitrary: often }, { weight: 1, arbitrary: seldom })

const user = numberOf(1, 1, 1, 2, 3, 4)
const anyone = mostly(user, fc.constant(5), 40)
const giftId = mostly(numberOf(1, 1, 2, 3), fc.constant(4), 30)
const room = mostly(fc.constantFrom(1, 1, 'r1', 2, 'r2'), fc.constantFrom(3, 'r3'), 30)
const units = mostly(fc.integer({ min: 1, max: 2_000 }), fc.constantFrom(MAX_INTEGER, MAX_INTEGER - 20_000), 9)
const quantity = mostly(fc.integer({ min: 1, max: 6 }), fc.constant(9_999))
const currency = mostly(fc.constant('diamonds' as const), fc.constantFrom(...currencies), 1)

const send = fc
  .record({
    caller: user,
    other: mostly(fc.constant(null), user, 30),
    gift: giftId,
    receivers: fc.uniqueArray(anyone, { minLength: 1, maxLength: 4 }),
    withSender: mostly(fc.constant(false), fc.constant(true)),
    quantity,
    room,
    bag: mostly(fc.constant(false), fc.constant(true), 3),
  })
  .map(({ caller, other, receivers, withSender, ...rest }) => {
    const others = receivers.filter((id) => id !== caller)
    const kept = withSender ? receivers : others.length > 0 ? others : [(caller % 4) + 1]
    return { does: 'send' as const, caller, sender: other ?? caller, receivers: kept, ...rest }
  })

const odds = fc.array(
  fc.record({
    multiplier: mostly(numberOf(0, 0, 0, 0.5, 1, 1.5, 3.3333, 0.0001), numberOf(10_000, 10_000.5, 0.00001)),
    weight: mostly(fc.integer({ min: 1, max: 9 }), numberOf(20_000, 1_000_000_000)),
  }),
  { minLength: 1, maxLength: 4 },
)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const price = mostly(fc.integer({ min: 0, max: 90 }), fc.constant(MAX_INTEGER))
const steps = {
  credit: fc.record({ does: fc.constant('credit'), user: anyone, currency, units }),
  debit: fc.record({
    does: fc.constant('debit'),
    holder: fc.constantFrom('user', 'room'),
    id: anyone,
    currency,
    units,
  }),
  fill: fc.record({ does: fc.constant('fill bag'), user: anyone, gift: giftId, quantity: units }),
  seed: fc.record({ does: fc.constant('choose seed'), user, seed: fc.constantFrom('a', 'b-1') }),
  room: fc.record({ does: fc.constant('define room'), room: numberOf(1, 2, 3), owner: maybe(anyone) }),
  gift: fc.record({
    does: fc.constant('define gift'),
    gift: numberOf(1, 2, 3, 4),
    kind: maybe(fc.constantFrom('lucky', 'returnable', 'standard')),
    price: maybe(price),
    odds: maybe(odds),
  }),
}

const step = fc.oneof(
  { weight: 20, arbitrary: send },
  { weight: 2, arbitrary: steps.credit },
  { weight: 2, arbitrary: steps.debit },
  { weight: 2, arbitrary: steps.fill },
  { weight: 1, arbitrary: steps.seed },
  { weight: 1, arbitrary: steps.room },
  { weight: 2, arbitrary: steps.gift },
  { weight: 12, arbitrary: privilegeStep },
  { weight: 8, arbitrary: rouletteStep },
  { weight: 14, arbitrary: agencyStep },
)

/** Mostly roulette; sometimes a user's coins are credited or debited, or a room gets another owner. */
const playing = fc.oneof(
  { weight: 30, arbitrary: rouletteStep },
  { weight: 6, arbitrary: memberStep },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('credit'), user, currency: fc.constant('coins'), units }) },
  { weight: 1, arbitrary: steps.room },
)
const patience = numberOf(0, 0, 0, 1, 30_000_000, 59_999_999, 60_000_000)

/** Around the 6 seconds after which a count of consecutive sends starts again, and days after which privileges end. */
const wait = fc.oneof(
  { weight: 5, arbitrary: numberOf(0, 0, 0, 1, 2_000_000, 5_999_999, 6_000_000, 6_000_001) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 9 }).map((days) => days * 86_400_000_000) },
)

const one = (of: fc.Arbitrary<Step>) => of.map((only) => [only])
const several = (of: fc.Arbitrary<Step>) => fc.array(of, { minLength: 2, maxLength: 16, size: 'max' })
const story = (
  wait: fc.Arbitrary<number>,
  steps: fc.Arbitrary<readonly Step[]>,
  minLength: number,
  maxLength: number,
): fc.Arbitrary<readonly Burst[]> => fc.array(fc.record({ wait, steps }), { minLength, maxLength, size: 'max' })

export const singleSteps = story(wait, one(step), 30, 50)
export const bursts = story(wait, several(step), 3, 6)
export const rouletteSingleSteps = story(patience, one(playing), 40, 60)
export const rouletteBursts = story(patience, several(playing), 5, 10)
