import * as fc from 'fast-check'
import type { Generated } from './generated.ts'

/** A game's id and uid, and its room's id. */
export interface GameRef {
  readonly id: number
  readonly uid: string
  readonly room: number
}

const unknownGame: GameRef = { id: 999_999_999, uid: 'g-999999999-0', room: 1 }

export type PlayStep = Generated<typeof play>

/** The game that a step is about, of those that are known, and the id of the room where it is looked for. */
export function targetGame(known: readonly GameRef[], { back, room }: PlayStep): GameRef {
  const game = known[known.length - 1 - back] ?? unknownGame
  return room === 'another' ? { ...game, room: (game.room % 3) + 1 } : game
}

const mostly = <A, B>(arbitrary: fc.Arbitrary<A>, seldom: fc.Arbitrary<B>, weight: number): fc.Arbitrary<A | B> =>
  fc.oneof({ weight, arbitrary }, { weight: 1, arbitrary: seldom })

/** Mostly users of room 1, where most of the games are. */
const user = fc.constantFrom(1, 1, 1, 2, 2, 2, 3, 3, 3, 4)
const room = mostly(fc.constantFrom(1, 1, 1, 'r1', 'r1', 2), fc.constantFrom(3, 'r3'), 30)
const seed = fc.constantFrom('', '', 'a', 'b-1')

const open = fc.record({
  does: fc.constant('open game'),
  user,
  room,
  price: mostly(fc.integer({ min: 1, max: 40 }), fc.constant(10_000_000), 20),
  places: fc.constantFrom(2, 2, 3, 50),
  joins: fc.boolean(),
  seed,
})
const play = fc.record({
  does: fc.constantFrom('join game', 'join game', 'join game', 'join game', 'leave game', 'finish game', 'cancel game'),
  user,
  /** The game's own by its id or uid, or one that is not. */
  room: mostly(fc.constantFrom('id', 'uid'), fc.constant('another'), 25),
  /** Which of the games that are known, from the newest; beyond the oldest there is none. */
  back: mostly(fc.constantFrom(0, 0, 0, 1), fc.integer({ min: 2, max: 6 }), 8),
  byUid: fc.boolean(),
  seed,
})
const purge = fc.record({ does: fc.constant('purge games'), minutes: fc.constantFrom(0, 1), dry: fc.boolean() })

/** A request about roulette, valid or not. */
export type RouletteStep = Generated<typeof rouletteStep>

export const rouletteStep = fc.oneof(
  { weight: 3, arbitrary: open },
  { weight: 18, arbitrary: play },
  { weight: 1, arbitrary: purge },
)
