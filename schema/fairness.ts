import { type Static, Type } from '@sinclair/typebox'
import { Amount, Id, Instant } from './common.ts'
import { PublishedOdds } from './gifts.ts'
import { named } from './named.ts'

const Hex = Type.String({ pattern: '^[0-9a-f]{64}$' })

export const ClientSeed = Type.String({ pattern: '^[0-9A-Za-z_-]{1,64}$', title: '1 to 64 of 0-9 A-Z a-z _ -' })
export const ChooseSeed = named('SeedChoice', Type.Object({ client_seed: ClientSeed }))
export type ChooseSeed = Static<typeof ChooseSeed>

export const PublishedChains = named(
  'LuckyChains',
  Type.Object({
    chain: Type.String(),
    commitment: Hex,
    client_seed: ClientSeed,
    next: Type.String(),
    next_commitment: Hex,
  }),
)

export const PublishedDraw = named(
  'LuckyDraw',
  Type.Object({
    chain: Type.String(),
    k: Id,
    link: Hex,
    client_seed: ClientSeed,
    decoration_id: Id,
    odds_hash: Hex,
    stake: Type.Integer({ description: 'Diamonds of each order: price times quantity' }),
    orders: Type.Array(named('DrawnOrder', Type.Object({ order_id: Type.String(), r: Amount, reward_num: Amount }))),
    created_at: Instant,
  }),
)
export type PublishedDraw = Static<typeof PublishedDraw>

export const PublishedOddsTable = named(
  'OddsTable',
  Type.Object({
    odds_hash: Hex,
    decoration_id: Id,
    odds: PublishedOdds,
    return_to_player: Type.Number(),
  }),
)
export type PublishedOddsTable = Static<typeof PublishedOddsTable>

/** Empty when the player gave none. */
const EntrySeed = Type.String({ pattern: '^[0-9A-Za-z_-]{0,64}$', title: 'up to 64 of 0-9 A-Z a-z _ -' })

/** The commitment of a spin and, once it was made, everything needed to verify it. */
export const SpinFairness = named(
  'SpinFairness',
  Type.Object({
    algorithm: Type.Literal('rr1'),
    game_uid: Type.String(),
    commitment: Hex,
    /** This field and those below only of a finished game. */
    server_seed: Type.Optional(Hex),
    entries: Type.Optional(
      Type.Array(
        Type.Object({
          entry: Type.Integer({ minimum: 1, description: "the join's position on the ledger" }),
          user_id: Id,
          stake: Amount,
          client_seed: EntrySeed,
        }),
      ),
    ),
    entries_hash: Type.Optional(Hex),
    draw: Type.Optional(Type.Integer({ minimum: 0, description: 'which entry won, from 0' })),
  }),
)
export type SpinFairness = Static<typeof SpinFairness>

const algorithm = <Name extends string>(name: Name) => Type.Optional(Type.Literal(name))

/**
 * A published draw of a lucky gift, as `/fairness/lucky/draws` lists it. What the ledger does not have may be included.
 */
export const VerifyDraw = named(
  'DrawToVerify',
  Type.Object({
    algorithm: algorithm('lg1'),
    chain: Type.String({ pattern: '^[0-9A-Za-z_-]{1,64}$' }),
    k: Type.Integer({ minimum: 1, maximum: 1_024 }),
    link: Hex,
    client_seed: ClientSeed,
    decoration_id: Type.Optional(Id),
    odds_hash: Type.Optional(Hex),
    stake: Type.Optional(Amount),
    orders: Type.Array(
      Type.Object({
        order_id: Type.Optional(Type.String({ maxLength: 64 })),
        r: Type.Optional(Amount),
        reward_num: Type.Optional(Amount),
      }),
      { minItems: 1, maxItems: 100 },
    ),
    commitment: Type.Optional(Hex),
    odds: Type.Optional(PublishedOdds),
  }),
)
export type VerifyDraw = Static<typeof VerifyDraw>

/** Ids are numbers on this ledger; the published test vectors use names. */
const IdOrName = Type.Union([Id, Type.String({ pattern: '^[0-9A-Za-z_-]{1,64}$' })], { description: 'an id or a name' })

/** The `fairness` of a finished game. What the ledger does not have may be included. */
export const VerifySpin = named(
  'SpinToVerify',
  Type.Object({
    algorithm: algorithm('rr1'),
    game_uid: Type.String({ pattern: '^[0-9A-Za-z_-]{1,64}$' }),
    server_seed: Hex,
    entries: Type.Array(
      Type.Object({ entry: IdOrName, user_id: IdOrName, stake: Amount, client_seed: Type.Optional(EntrySeed) }),
      { minItems: 1, maxItems: 50 },
    ),
    entries_hash: Type.Optional(Hex),
    draw: Type.Optional(Amount),
    commitment: Type.Optional(Hex),
  }),
)
export type VerifySpin = Static<typeof VerifySpin>

/** A finished game as the routes return it; its other fields are compared with the ledger. */
export const VerifyGame = named(
  'GameToVerify',
  Type.Object({
    algorithm: algorithm('rr1'),
    fairness: VerifySpin,
    winner: Type.Optional(Type.Union([Type.Object({ id: IdOrName }), Type.Null()])),
    uid: Type.Optional(Type.String({ maxLength: 64 })),
    status: Type.Optional(Type.String({ maxLength: 64 })),
    game_price: Type.Optional(Amount),
    prize: Type.Optional(Amount),
    pot: Type.Optional(Amount),
    players_count: Type.Optional(Amount),
  }),
)
export type VerifyGame = Static<typeof VerifyGame>

export const VerifyBody = Type.Union([VerifyDraw, VerifySpin, VerifyGame], {
  description: 'a draw of /fairness/lucky/draws, a finished game or its fairness',
})

export const Verdict = named(
  'Verdict',
  Type.Object(
    {
      algorithm: Type.Union([Type.Literal('lg1'), Type.Literal('rr1')]),
      valid: Type.Boolean(),
      steps: Type.Array(
        Type.Object({
          step: Type.String(),
          ok: Type.Boolean(),
          why: Type.String(),
          values: Type.Record(Type.String(), Type.Unknown()),
        }),
      ),
    },
    { description: 'Whether what was sent proves the draw, and the check of each step' },
  ),
)
export type Verdict = Static<typeof Verdict>
