import { type Static, Type } from '@sinclair/typebox'
import { Amount, Flag, Id, Incarnation, Instant } from './common.ts'
import { PublishedOdds } from './gifts.ts'
import { arabicForm } from './languages.ts'
import { named } from './named.ts'

const Hex = (description: string) =>
  Type.String({ pattern: '^[0-9a-f]{64}$', title: '64 of 0-9 a-f', ...arabicForm('64 حرفًا من 0-9 وa-f'), description })

export const ClientSeed = Type.String({
  pattern: '^[0-9A-Za-z_-]{1,64}$',
  title: '1 to 64 of 0-9 A-Z a-z _ -',
  ...arabicForm('من 1 إلى 64 حرفًا من 0-9 وA-Z وa-z و_ و-'),
})
export const ChooseSeed = named('SeedChoice', Type.Object({ client_seed: ClientSeed }))
export type ChooseSeed = Static<typeof ChooseSeed>

export const PublishedChains = named(
  'LuckyChains',
  Type.Object({
    incarnation: Incarnation,
    chain: Type.String({ description: 'id of the current chain: user id and number' }),
    commitment: Hex(
      'published before the first draw of the chain; the links of its draws lead to it. Store it: those of ended chains are ' +
        'not listed',
    ),
    client_seed: ClientSeed,
    next: Type.String({ description: 'id of the chain that follows' }),
    next_commitment: Hex('commitment of the next chain: known before its seed is chosen'),
  }),
  "The caller's running chain of lucky draws and the next one, each with its commitment",
)

export const PublishedDraw = named(
  'LuckyDraw',
  Type.Object({
    incarnation: Incarnation,
    chain: Type.String({ description: 'id of the chain, which is unique in its incarnation' }),
    k: { ...Id, description: 'number of the send on its chain, from 1' },
    link: Hex('the secret of this send; hashed k times with SHA-256, it gives the commitment of the chain'),
    announced: Type.Boolean({
      description:
        'whether the commitment of the chain was on the ledger before this send: not for a very first send, nor for the ' +
        'first one after commits were lost, unless showLuckyChain or chooseLuckySeed was called before',
    }),
    client_seed: ClientSeed,
    decoration_id: Id,
    odds_hash: Hex('SHA-256 of the odds that were in force; showOdds answers them'),
    stake: Type.Integer({ description: 'Diamonds of each order: price times quantity' }),
    orders: Type.Array(
      named(
        'DrawnOrder',
        Type.Object({
          order_id: Type.String(),
          r: { ...Amount, description: 'the number drawn, from 0 to the sum of the weights less 1' },
          reward_num: { ...Amount, description: 'diamonds won' },
        }),
      ),
      { description: 'In the order of the receivers' },
    ),
    created_at: Instant,
  }),
  'A send of the caller with all that proves its draws',
)
export type PublishedDraw = Static<typeof PublishedDraw>

export const PublishedOddsTable = named(
  'OddsTable',
  Type.Object({
    odds_hash: Hex('SHA-256 of the canonical JSON of decoration_id and odds, see /docs/fairness'),
    decoration_id: Id,
    odds: PublishedOdds,
    return_to_player: Type.Number({ description: 'the expected share of the stake that is paid back, a fraction' }),
  }),
  'The odds with this hash, as they were published',
)
export type PublishedOddsTable = Static<typeof PublishedOddsTable>

/** Empty when the player gave none. */
const EntrySeed = Type.String({
  pattern: '^[0-9A-Za-z_-]{0,64}$',
  title: 'up to 64 of 0-9 A-Z a-z _ -',
  ...arabicForm('بما لا يزيد على 64 حرفًا من 0-9 وA-Z وa-z و_ و-'),
})

const committed = {
  algorithm: Type.Literal('rr1'),
  game_uid: Type.String(),
  incarnation: Incarnation,
  commitment: Hex('published when the game is created: SHA-256 of rr1|commit|{game_uid}| and the bytes of server_seed'),
}

/** What is published once the wheel was spun. */
const spun = {
  server_seed: Hex('the secret to which the commitment belongs'),
  entries: Type.Array(
    Type.Object({
      entry: Type.Integer({ minimum: 1, description: "the join's position on the ledger" }),
      user_id: Id,
      stake: Amount,
      client_seed: EntrySeed,
    }),
    { description: 'The players in the order of joining' },
  ),
  entries_hash: Hex('SHA-256 of the entries as lines, see /docs/fairness'),
  draw: Type.Integer({ minimum: 0, description: 'which entry won, from 0' }),
}

/** The commitment of a spin and, once it was made, everything needed to verify it. */
export const SpinFairness = named(
  'SpinFairness',
  Type.Object(
    { ...committed, ...Type.Partial(Type.Object(spun)).properties },
    { description: 'server_seed, entries, entries_hash and draw are there once the game is finished' },
  ),
)
export type SpinFairness = Static<typeof SpinFairness>

/** Given for a finished game. */
export const SpunFairness = named(
  'SpunFairness',
  Type.Object({ ...committed, ...spun }, { description: 'Everything needed to verify the spin' }),
)
export type SpunFairness = Static<typeof SpunFairness>

const algorithm = <Name extends string>(name: Name) => Type.Optional(Type.Literal(name))

/**
 * A published draw of a lucky gift, as `/fairness/lucky/draws` lists it. What the ledger does not have may be included.
 */
export const VerifyDraw = named(
  'DrawToVerify',
  Type.Object({
    algorithm: algorithm('lg1'),
    incarnation: Type.Optional(Incarnation),
    chain: Type.String({ pattern: '^[0-9A-Za-z_-]{1,64}$' }),
    k: Type.Integer({ minimum: 1, maximum: 1_024 }),
    link: Hex('as listLuckyDraws answers it'),
    announced: Type.Optional(Flag),
    client_seed: ClientSeed,
    decoration_id: Type.Optional(Id),
    odds_hash: Type.Optional(Hex('as listLuckyDraws answers it')),
    stake: Type.Optional(Amount),
    orders: Type.Array(
      Type.Object({
        order_id: Type.Optional(Type.String({ maxLength: 64 })),
        r: Type.Optional(Amount),
        reward_num: Type.Optional(Amount),
      }),
      { minItems: 1, maxItems: 100 },
    ),
    commitment: Type.Optional(Hex('of the chain, as showLuckyChain answered it before the draw')),
    odds: Type.Optional(PublishedOdds),
  }),
)
export type VerifyDraw = Static<typeof VerifyDraw>

/** Ids are numbers on this ledger; the published test vectors use names. */
const IdOrName = Type.Union([Id, Type.String({ pattern: '^[0-9A-Za-z_-]{1,64}$' })], {
  description: 'an id or a name',
  ...arabicForm('معرّفًا أو اسمًا'),
})

/** The `fairness` of a finished game. What the ledger does not have may be included. */
export const VerifySpin = named(
  'SpinToVerify',
  Type.Object({
    algorithm: algorithm('rr1'),
    game_uid: Type.String({ pattern: '^[0-9A-Za-z_-]{1,64}$' }),
    incarnation: Type.Optional(Incarnation),
    server_seed: Hex('of the finished game'),
    entries: Type.Array(
      Type.Object({ entry: IdOrName, user_id: IdOrName, stake: Amount, client_seed: Type.Optional(EntrySeed) }),
      { minItems: 1, maxItems: 50 },
    ),
    entries_hash: Type.Optional(Hex('of the finished game')),
    draw: Type.Optional(Amount),
    commitment: Type.Optional(Hex('as it was shown before the spin')),
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
  ...arabicForm('سحبًا مما تعرضه fairness/lucky/draws، أو لعبة منتهية، أو بيانات fairness الخاصة بها'),
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
