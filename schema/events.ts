import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { agencyEvents } from './agency-events.ts'
import { Amount, Bit, Id, Incarnation } from './common.ts'
import { arabicForm, LocalizedName, LocalizedText } from './languages.ts'
import { named } from './named.ts'
import { Approval, proposalEvents } from './proposals.ts'

/**
 * Every event of the ledger: its type, version and data. Accounts and amounts are in the event's movements, not in its
 * data. Profile data (names, avatars) is never part of an event, so that it can be erased.
 */

const Hex = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Percent = Type.Integer({ minimum: 0, maximum: 100 })
const Rank = Type.Integer()
const Reason = Type.String()

export const GiftKind = named(
  'GiftKind',
  Type.Union([Type.Literal('lucky'), Type.Literal('returnable'), Type.Literal('standard')], {
    title: 'lucky, returnable or standard',
    ...arabicForm('lucky أو returnable أو standard'),
    description: 'lucky: every order is drawn; returnable: drawn where it has odds; standard: never drawn',
  }),
)
export type GiftKind = Static<typeof GiftKind>

/** One row of an odds table; `multiplier` in ten-thousandths of the stake. */
export const OddsRow = Type.Object({ multiplier: Amount, weight: Id })
export type OddsRow = Static<typeof OddsRow>

export const AgencyCountry = named('AgencyCountry', Type.Object({ country_id: Id, diamonds_per_dollar: Id }))
export type AgencyCountry = Static<typeof AgencyCountry>

/** The client apps that are distinguished. */
export const ClientType = named(
  'ClientType',
  Type.Union([Type.Literal('android'), Type.Literal('ios'), Type.Literal('flutter')], {
    description: 'android, ios or flutter',
    ...arabicForm('android أو ios أو flutter'),
  }),
)
export type ClientType = Static<typeof ClientType>

const gift = {
  sender_id: Id,
  receiver_ids: Type.Array(Id),
  room_id: Id,
  decoration_id: Id,
  kind: GiftKind,
  /** Diamonds for one gift at the time of sending. */
  price: Amount,
  quantity: Id,
  /** Diamonds debited from the sender; 0 from the bag. */
  cost: Amount,
  from_bag: Type.Boolean(),
  encrypted: Type.Boolean(),
  /** Percentages in force at the time of sending. */
  receiver_percent: Percent,
  room_percent: Percent,
  owner_percent: Percent,
  /** Points for the room: one for each diamond of a standard gift's value. */
  trophy_points: Amount,
}

/** A player: `entry` is the position of the join, `stake` in coins, `client_seed` empty when none was given. */
export const RouletteEntry = Type.Object({ entry: Id, user_id: Id, stake: Id, client_seed: Type.String() })
export type RouletteEntry = Static<typeof RouletteEntry>

/** A game's id is the position of the event that created it. */
const rouletteGame = { game_id: Id, room_id: Id }

/** A file that was made when a month was closed. */
export const ClosingFile = Type.Object({ name: Type.String({ maxLength: 100 }), sha256: Hex })
export type ClosingFile = Static<typeof ClosingFile>

/** The signed statement of the hash at a closing's last position. */
export const ClosingCheckpoint = Type.Object({
  position: Amount,
  hash: Hex,
  at: Type.String({ description: 'ISO 8601, UTC, microseconds' }),
  algorithm: Type.Literal('Ed25519'),
  public_key: Type.String(),
  signature: Type.String(),
})
export type ClosingCheckpoint = Static<typeof ClosingCheckpoint>

/** The rows of a derived table in the snapshot of a seal. */
export const SealedTable = Type.Object({
  name: Type.String({ pattern: '^[a-z_]+$' }),
  rows: Amount,
  digest: Type.String({
    description:
      'SHA-256 of all rows as COPY writes them, in the order of their ids, each with a line break at its end, as hex',
  }),
  sha256: Type.String({ description: 'of its file' }),
})
export type SealedTable = Static<typeof SealedTable>

/** What a step of a closing found: `subject` is the position of an event, an account, or a row of a table. */
const NamedFinding = {
  finding: Type.String({
    pattern: '^[0-9a-f]{16}$',
    title: '16 of 0-9 a-f',
    ...arabicForm('16 حرفًا من 0-9 وa-f'),
    description: 'its id',
  }),
  step: Type.String({ description: 'verify, exceptions or draws' }),
  kind: Type.String({ description: 'the check that found it' }),
  subject: Type.String({ description: 'the position of an event, an account, or a row of a table' }),
}

/** A finding that does not stop the closing of months any more, and why. */
export const AcknowledgedFinding = named(
  'AcknowledgedFinding',
  Type.Object({
    id: { ...Id, description: "the position of the acknowledgement's event" },
    ...NamedFinding,
    month: Type.String({ description: 'YYYY-MM: the month whose closing it stopped' }),
    acknowledged_by: Type.String({ description: 'staff:ann' }),
    reason: Reason,
  }),
  'A finding of a closing that an operator acknowledged: which one, by whom and why',
)
export type AcknowledgedFinding = Static<typeof AcknowledgedFinding>

export const eventTypes = {
  'ledger-opened': { version: 1, data: Type.Object({ fairness_key: Hex, incarnation: Incarnation }) },
  /** Commits were lost: the ledger went back to the event before this one. */
  'ledger-restored': {
    version: 1,
    data: Type.Object({
      incarnation: Incarnation,
      reason: Reason,
      /** The last event that is known to have been committed; null where nobody knows. */
      last_known: Type.Union([Type.Null(), Type.Object({ position: Id, hash: Hex })]),
    }),
  },
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
  /** Tokens of the user issued before this second are no longer valid. */
  'sessions-revoked': { version: 1, data: Type.Object({ user_id: Id, before: Amount }) },
  /** Tokens of this member of staff issued before this second are no longer valid. */
  'staff-sessions-revoked': { version: 1, data: Type.Object({ sub: Type.String(), before: Amount }) },
  /** The user's profile data was erased. */
  'user-forgotten': { version: 1, data: Type.Object({ user_id: Id }) },
  /** Stored replies that named an erased user were redacted: `reply_hash` is that of the redacted reply. */
  'replies-blanked': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      /** By the first 16 bytes of SHA-256 of actor, line break and idempotency key, under which replies are stored. */
      replies: Type.Array(Type.Object({ key: Type.String({ pattern: '^[0-9a-f]{32}$' }), reply_hash: Hex })),
    }),
  },
  'room-defined': { version: 1, data: Type.Object({ room_id: Id, owner_id: Id }) },
  'room-joined': { version: 1, data: Type.Object({ room_id: Id, user_id: Id }) },
  /** The actor is the user, or the one who removed the user. */
  'room-left': { version: 1, data: Type.Object({ room_id: Id, user_id: Id }) },
  'decoration-defined': {
    version: 1,
    data: Type.Object({
      decoration_id: Id,
      name: LocalizedName,
      kind: GiftKind,
      price: Amount,
      image_path: Type.String(),
      video_path: Type.Union([Type.String(), Type.Null()]),
      odds: Type.Array(OddsRow),
      odds_hash: Type.Union([Hex, Type.Null()]),
      approval: Approval,
    }),
  },
  'balance-credited': { version: 1, data: Type.Object({ reason: Reason, approval: Approval }) },
  'balance-debited': { version: 1, data: Type.Object({ reason: Reason, approval: Approval }) },
  'bag-items-added': {
    version: 1,
    data: Type.Object({ user_id: Id, decoration_id: Id, quantity: Id, reason: Reason, approval: Approval }),
  },
  /** A gift without a draw. */
  'gift-sent': { version: 1, data: Type.Object(gift) },
  /** A lucky gift: one draw for each receiver, in the order of `receiver_ids`. */
  'gift-drawn': {
    version: 1,
    data: Type.Object({
      ...gift,
      incarnation: Incarnation,
      chain: Type.String(),
      k: Id,
      link: Hex,
      /** Whether the chain's commitment was on the ledger before the command. */
      announced: Type.Boolean(),
      client_seed: Type.String(),
      odds_hash: Hex,
      draws: Type.Array(Type.Object({ r: Amount, reward: Amount })),
      /** Consecutive sends of this gift by this sender in this room, this one included. */
      times: Id,
      /** Diamonds won since the count started, this send included. */
      won: Amount,
      /**
       * The diamonds in force from which a win of one order is announced: in the room, and to everyone. Each is there only
       * where an order of this send reached it, so readers need no settings, and without it nothing is announced.
       */
      big_win_room: Type.Optional(Id),
      big_win_all: Type.Optional(Id),
    }),
  },
  'privilege-package-defined': {
    version: 1,
    data: Type.Object({
      privilege_package_id: Id,
      name: LocalizedName,
      rank: Rank,
      valid_days: Id,
      icon_path: Type.String(),
    }),
  },
  /** One card, whose id is this event's position; later changes of the package do not change its days. */
  'card-granted': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      privilege_package_id: Id,
      valid_days: Id,
      reason: Reason,
      approval: Approval,
    }),
  },
  'card-moved': {
    version: 1,
    data: Type.Object({ card_id: Id, privilege_package_id: Id, from_user_id: Id, to_user_id: Id }),
  },
  /** The card is used up; `rank` is that of its package at the time. The next event says what it did. */
  'card-activated': {
    version: 1,
    data: Type.Object({ card_id: Id, user_id: Id, privilege_package_id: Id, rank: Rank, valid_days: Id }),
  },
  /**
   * `days`, which is `percent` of a card's days, extended the user's privilege, or started one where none was active.
   * Package and rank are those active from here on. `valid_until` in seconds since 1970.
   */
  'privilege-days-added': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      card_id: Id,
      days: Id,
      valid_until: Amount,
      percent: Percent,
      privilege_package_id: Id,
      rank: Rank,
    }),
  },
  /** A card of a higher rank ended the privilege `replaced` and started its own. */
  'privilege-replaced': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      card_id: Id,
      days: Id,
      valid_until: Amount,
      replaced: Type.Object({ privilege_package_id: Id, rank: Rank, valid_until: Amount }),
      privilege_package_id: Id,
      rank: Rank,
    }),
  },
  /** The user's draws use `chain` from here on, with `client_seed`; the commitment to the next chain is published. */
  'lucky-chain-opened': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      incarnation: Incarnation,
      chain: Type.String(),
      number: Id,
      commitment: Hex,
      client_seed: Type.String(),
      next_chain: Type.String(),
      next_commitment: Hex,
      fairness_key: Hex,
    }),
  },
  /** A game is open; this event's position is its id. `commitment` fixes what decides the spin. */
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
      /** Coins that the winner of a full game gets. */
      prize: Amount,
      incarnation: Incarnation,
      commitment: Hex,
      fairness_key: Hex,
    }),
  },
  'roulette-joined': {
    version: 1,
    data: Type.Object({ ...rouletteGame, user_id: Id, stake: Id, client_seed: Type.String() }),
  },
  'roulette-left': { version: 1, data: Type.Object({ ...rouletteGame, user_id: Id, stake: Id }) },
  /** Has everything that is needed to verify the spin. */
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
  /** Cancelled by its creator or by an operator; all stakes are refunded. */
  'roulette-cancelled': { version: 1, data: Type.Object({ ...rouletteGame, player_ids: Type.Array(Id) }) },
  /** Whether the service is closed for maintenance, and whether clients that do not identify themselves are blocked. */
  'app-mode-set': {
    version: 1,
    data: Type.Object({
      maintenance: Type.Boolean(),
      title: LocalizedText,
      message: LocalizedText,
      /** Blocked clients are asked to update to the release of this type; null when they are not blocked. */
      block_unidentified: Type.Union([Type.Null(), ClientType]),
    }),
  },
  /** The version that clients of a type are asked to update to, and the one below which they must. */
  'release-defined': {
    version: 1,
    data: Type.Object({
      client_type: ClientType,
      version: Type.String(),
      minimum_version: Type.Union([Type.Null(), Type.String()]),
      store_link: Type.String(),
      title: LocalizedText,
      message: LocalizedText,
    }),
  },
  /** An operator acknowledged what a step of the month's closing found: it stops neither this closing nor a later one. */
  'finding-acknowledged': {
    version: 1,
    data: Type.Object({ ...NamedFinding, month: Type.String(), acknowledged_by: Type.String(), reason: Reason }),
  },
  /** Finance closed a month (YYYY-MM), whose last event is at `position`, and made these files of it. */
  'month-closed': {
    version: 1,
    data: Type.Object({
      month: Type.String(),
      position: Id,
      files: Type.Array(ClosingFile),
      checkpoint: ClosingCheckpoint,
      /** What its steps found that was acknowledged, in this month or an earlier one. */
      acknowledged: Type.Array(AcknowledgedFinding),
    }),
  },
  /** A snapshot was made of the derived tables as of `position`; those that had no rows are left out. */
  'ledger-sealed': {
    version: 1,
    data: Type.Object({
      position: Id,
      tables: Type.Array(SealedTable),
      checkpoint: ClosingCheckpoint,
      signature: Type.String({ description: 'Ed25519 of position, hash and tables, by the key of the checkpoint' }),
    }),
  },
  'release-removed': { version: 1, data: Type.Object({ client_type: ClientType }) },
  ...agencyEvents,
  ...proposalEvents,
} as const satisfies Record<string, { version: number; data: TSchema }>

export type EventType = keyof typeof eventTypes
export type EventData<T extends EventType = EventType> = Static<(typeof eventTypes)[T]['data']>
