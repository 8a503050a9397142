import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Kysely } from 'kysely'
import { RouletteEntry } from '../../../schema/events.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import type { Verdict } from '../../features/fairness/verdict.ts'
import { gameAccount, potOf } from '../../features/roulette/game.ts'
import { checkSpin } from '../../features/roulette/reads.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import { positionsOf, readEventsAt } from '../events/stored-events.ts'
import { readUserNames } from '../users/find-user.ts'

const Entries = TypeCompiler.Compile(Type.Array(RouletteEntry))
const StoredSpin = TypeCompiler.Compile(
  Type.Object({ server_seed: Type.String(), entries_hash: Type.String(), draw: Type.Integer() }),
)

/** Events of one game that its page shows, from its first one. */
const MAX_EVENTS = 500
/** Blocks of the index of accounts in which they may be. */
const MAX_BLOCKS = 500

export interface GameDetails {
  readonly game_id: number
  readonly uid: string
  readonly room_id: number
  readonly creator_id: number
  readonly status: string
  /** Coins, like the pot and the prize: while open the prize of a full game. */
  readonly game_price: number
  readonly pot: number
  readonly prize: number
  readonly max_players: number
  readonly fee_percent: number
  readonly incarnation: string
  readonly commitment: string
  /** In the order of joining. */
  readonly entries: readonly RouletteEntry[]
  readonly winner_id: number | null
  readonly spin: { readonly server_seed: string; readonly entries_hash: string; readonly draw: number } | null
  readonly created_at: Micros
  readonly ended_at: Micros | null
  readonly end_position: number | null
  /** Names by user id; without those that were erased. */
  readonly names: ReadonlyMap<number, string>
  /** Its events in order. */
  readonly events: readonly StoredEvent[]
  readonly hasMoreEvents: boolean
  /** The check of a finished game: its row against what the ledger published. */
  readonly verdict: Verdict | null
}

/** A game with its events and, once it was finished, the check of its spin; undefined when there is none with this id. */
export async function readGameDetails(db: Kysely<Tables>, id: number): Promise<GameDetails | undefined> {
  const row = await db
    .selectFrom('roulette_games as g')
    .select(['g.game_id', 'g.uid', 'g.room_id', 'g.creator_id', 'g.status', 'g.game_price', 'g.prize', 'g.max_players'])
    .select(['g.fee_percent', 'g.incarnation', 'g.commitment', 'g.entries', 'g.winner_id', 'g.spin', 'g.end_position'])
    .select([micros('g.created_at').as('created_at'), micros('g.ended_at').as('ended_at')])
    .where('g.game_id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const entries: unknown = JSON.parse(row.entries)
  const spin: unknown = row.spin === null ? null : JSON.parse(row.spin)
  if (!Entries.Check(entries)) throw new Error(`the entries of game ${id} are malformed`)
  if (spin !== null && !StoredSpin.Check(spin)) throw new Error(`the spin of game ${id} is malformed`)
  const pot = potOf({ entries })
  const [events, verdict] = await Promise.all([
    readEvents(db, id, row.end_position),
    spin === null
      ? null
      : checkSpin(
          db,
          {
            game_uid: row.uid,
            incarnation: row.incarnation,
            commitment: row.commitment,
            ...spin,
            entries: [...entries],
          },
          {
            uid: row.uid,
            status: row.status,
            game_price: row.game_price,
            prize: row.prize,
            pot,
            players_count: entries.length,
            winner: row.winner_id === null ? null : { id: row.winner_id },
          },
        ),
  ])
  const named = [
    row.creator_id,
    ...entries.map(({ user_id }) => user_id),
    ...events.flatMap(({ data }) => ('user_id' in data ? [data.user_id] : [])),
  ]
  return {
    ...row,
    entries,
    spin,
    pot,
    names: await readUserNames(db, named),
    events: events.slice(0, MAX_EVENTS),
    hasMoreEvents: events.length > MAX_EVENTS,
    verdict,
  }
}

/** It was created and ended, and moves its own account whenever somebody joins or leaves; one event more than are shown. */
async function readEvents(db: Kysely<Tables>, id: number, end: number | null): Promise<StoredEvent[]> {
  const last = end ?? Number.MAX_SAFE_INTEGER
  const moved = await positionsOf(db, gameAccount(id), { first: id, last, maxBlocks: MAX_BLOCKS })
  const all = [...new Set([id, ...moved, ...(end === null ? [] : [end])])].toSorted((a, b) => a - b)
  return readEventsAt(db, all.slice(0, MAX_EVENTS + 1))
}
