import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { agencyEvents } from './agency-events.ts'
import { Amount, Bit, Id } from './common.ts'

/**
 * Every event of the ledger: its name, its version and what it says. Accounts and amounts stand beside
 * the data, as movements. Words about people (names, avatars) never stand in an event.
 */

const Hex = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Percent = Type.Integer({ minimum: 0, maximum: 100 })
const Rank = Type.Integer()
const Reason = Type.String()

export const GiftKind = Type.Union([Type.Literal('lucky'), Type.Literal('returnable'), Type.Literal('standard')])
export type GiftKind = Static<typeof GiftKind>

/** One row of an odds table; `multiplier` in ten-thousandths of the stake. */
export const OddsRow = Type.Object({ multiplier: Amount, weight: Id })
export type OddsRow = Static<typeof OddsRow>

export const AgencyCountry = Type.Object({ country_id: Id, diamonds_per_dollar: Id })
export type AgencyCountry = Static<typeof AgencyCountry>

/** The apps that are told apart. */
export const ClientType = Type.Union([Type.Literal('android'), Type.Literal('ios'), Type.Literal('flutter')], {
  description: 'android, ios or flutter',
})
export type ClientType = Static<typeof ClientType>

/** Words in the languages of the app. */
export const InBoth = Type.Object({ en: Type.String(), ar: Type.String() })
export type InBoth = Static<typeof InBoth>

const gift = {
  sender_id: Id,
  receiver_ids: Type.Array(Id),
  room_id: Id,
  decoration_id: Id,
  kind: GiftKind,
  /** Diamonds for one gift when it was sent. */
  price: Amount,
  quantity: Id,
  /** Diamonds debited from the sender; 0 from the bag. */
  cost: Amount,
  from_bag: Type.Boolean(),
  encrypted: Type.Boolean(),
  /** Percentages in force. */
  receiver_percent: Percent,
  room_percent: Percent,
  owner_percent: Percent,
  /** Given to the room, one a diamond of a standard gift's value. */
  trophy_points: Amount,
}

/** One who plays: `entry` is the join's position, `stake` in coins, `client_seed` empty when none was given. */
export const RouletteEntry = Type.Object({ entry: Id, user_id: Id, stake: Id, client_seed: Type.String() })
export type RouletteEntry = Static<typeof RouletteEntry>

/** A game goes by the position of the event that created it. */
const rouletteGame = { game_id: Id, room_id: Id }

export const eventTypes = {
  'ledger-opened': { version: 1, data: Type.Object({ fairness_key: Hex }) },
  'user-defined': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      charging_agent: Bit,
      allow_receive_withdraw_requests: Bit,
      business_manager: Bit,
      agency_countries: Type.Array(AgencyCountry),
    }),
  },
  /** Tokens of the user issued before this second are over. */
  'sessions-revoked': { version: 1, data: Type.Object({ user_id: Id, before: Amount }) },
  /** Tokens of this member of staff issued before this second are over. */
  'staff-sessions-revoked': { version: 1, data: Type.Object({ sub: Type.String(), before: Amount }) },
  /** What the user was called was erased. */
  'user-forgotten': { version: 1, data: Type.Object({ user_id: Id }) },
  /** What remembered replies that named a forgotten user became: `reply_hash` is that of the reply as it is now. */
  'replies-blanked': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      replies: Type.Array(Type.Object({ actor: Type.String(), idempotency_key: Type.String(), reply_hash: Hex })),
    }),
  },
  'room-defined': { version: 1, data: Type.Object({ room_id: Id, owner_id: Id }) },
  'decoration-defined': {
    version: 1,
    data: Type.Object({
      decoration_id: Id,
      name: Type.String(),
      kind: GiftKind,
      price: Amount,
      image_path: Type.String(),
      odds: Type.Array(OddsRow),
      odds_hash: Type.Union([Hex, Type.Null()]),
    }),
  },
  'balance-credited': { version: 1, data: Type.Object({ reason: Reason }) },
  'balance-debited': { version: 1, data: Type.Object({ reason: Reason }) },
  'bag-items-added': {
    version: 1,
    data: Type.Object({ user_id: Id, decoration_id: Id, quantity: Id, reason: Reason }),
  },
  /** A gift with no draw. */
  'gift-sent': { version: 1, data: Type.Object(gift) },
  /** A gift whose orders were drawn: one draw a receiver, in the order of `receiver_ids`. */
  'gift-drawn': {
    version: 1,
    data: Type.Object({
      ...gift,
      chain: Type.String(),
      k: Id,
      link: Hex,
      client_seed: Type.String(),
      odds_hash: Hex,
      draws: Type.Array(Type.Object({ r: Amount, reward: Amount })),
      /** Consecutive sends of this gift by this sender in this room, this one included. */
      times: Id,
      /** Diamonds won since the count started, this send included. */
      won: Amount,
    }),
  },
  'privilege-package-defined': {
    version: 1,
    data: Type.Object({
      privilege_package_id: Id,
      name: Type.String(),
      rank: Rank,
      valid_days: Id,
      icon_path: Type.String(),
    }),
  },
  /** One card, whose id is this event's position; its days stay as they are here. */
  'card-granted': {
    version: 1,
    data: Type.Object({ user_id: Id, privilege_package_id: Id, valid_days: Id, reason: Reason }),
  },
  'card-moved': {
    version: 1,
    data: Type.Object({ card_id: Id, privilege_package_id: Id, from_user_id: Id, to_user_id: Id }),
  },
  /** The card is used up; `rank` is its package's at this moment. What it did follows as the next event. */
  'card-activated': {
    version: 1,
    data: Type.Object({ card_id: Id, user_id: Id, privilege_package_id: Id, rank: Rank, valid_days: Id }),
  },
  /**
   * `percent` of a card's days, `days`, made the user's privilege longer, or began one where none ran. Package and
   * rank are those that run from here on. `valid_until` in seconds since 1970.
   */
  'privilege-days-added': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      card_id: Id,
      privilege_package_id: Id,
      rank: Rank,
      percent: Percent,
      days: Id,
      valid_until: Amount,
    }),
  },
  /** A card of a higher rank ended the privilege `replaced` and began its own. */
  'privilege-replaced': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      card_id: Id,
      replaced: Type.Object({ privilege_package_id: Id, rank: Rank, valid_until: Amount }),
      privilege_package_id: Id,
      rank: Rank,
      days: Id,
      valid_until: Amount,
    }),
  },
  /** The user's chain `chain` runs from here on with `client_seed`; the one after it is already committed. */
  'lucky-chain-opened': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      chain: Type.String(),
      number: Id,
      commitment: Hex,
      client_seed: Type.String(),
      next_chain: Type.String(),
      next_commitment: Hex,
      fairness_key: Hex,
    }),
  },
  /** A game is open; this event's position is its id. What decides the spin is committed to from here on. */
  'roulette-created': {
    version: 1,
    data: Type.Object({
      room_id: Id,
      game_uid: Type.String(),
      creator_id: Id,
      /** Coins. */
      game_price: Id,
      max_players: Id,
      /** What the house takes of the pot. */
      fee_percent: Percent,
      /** Coins that a full table wins. */
      prize: Amount,
      commitment: Hex,
      fairness_key: Hex,
    }),
  },
  'roulette-joined': {
    version: 1,
    data: Type.Object({ ...rouletteGame, user_id: Id, stake: Id, client_seed: Type.String() }),
  },
  'roulette-left': { version: 1, data: Type.Object({ ...rouletteGame, user_id: Id, stake: Id }) },
  /** With all that is needed to check the spin. */
  'roulette-finished': {
    version: 1,
    data: Type.Object({
      ...rouletteGame,
      winner_id: Id,
      loser_ids: Type.Array(Id),
      /** Coins: what the winner was paid and what the house took; together the pot. */
      prize: Amount,
      fee: Amount,
      server_seed: Hex,
      entries: Type.Array(RouletteEntry),
      entries_hash: Hex,
      draw: Amount,
    }),
  },
  /** By its creator or by an operator; everyone is paid back. */
  'roulette-cancelled': { version: 1, data: Type.Object({ ...rouletteGame, player_ids: Type.Array(Id) }) },
  /** Whether the service is closed to clients, and whether to those of which nothing is known. */
  'app-mode-set': {
    version: 1,
    data: Type.Object({
      maintenance: Type.Boolean(),
      title: InBoth,
      message: InBoth,
      /** Such clients are asked to update to the release of this type. */
      block_unidentified: Type.Union([Type.Null(), ClientType]),
    }),
  },
  /** What clients of a type are asked to update to, and below which version they must. */
  'release-defined': {
    version: 1,
    data: Type.Object({
      client_type: ClientType,
      version: Type.String(),
      minimum_version: Type.Union([Type.Null(), Type.String()]),
      store_link: Type.String(),
      title: InBoth,
      message: InBoth,
    }),
  },
  'release-removed': { version: 1, data: Type.Object({ client_type: ClientType }) },
  ...agencyEvents,
} as const satisfies Record<string, { version: number; data: TSchema }>

export type EventType = keyof typeof eventTypes
export type EventData<T extends EventType = EventType> = Static<(typeof eventTypes)[T]['data']>
