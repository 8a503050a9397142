import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import type { Kysely, Selectable } from 'kysely'
import { GiftKind, OddsRow } from '../../../schema/events.ts'
import type { PublishedDraw, PublishedOddsTable, VerifyDraw } from '../../../schema/fairness.ts'
import { BatchedLookup, requestLimits } from '../../db/queries/batched-lookup.ts'
import { isAfterCursor, isAnyOf, micros, microsOf } from '../../db/queries/expressions.ts'
import { listOf, PreparedStatement } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import type { FieldErrors } from '../../language/messages.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { parsePacked } from '../../ledger/storage/packed-columns.ts'
import { parseEvent } from '../../ledger/storage/stored-event.ts'
import { type LuckyProgress, publishedChains } from '../fairness/lucky-chains.ts'
import type { IncrementalVerdict } from '../fairness/verdict.ts'
import type { Decoration } from './decoration.ts'
import { parseOdds, publishedRow, returnToPlayerFraction } from './odds.ts'
import { orderId, parseOrderId } from './send.ts'
import { verifyDraw } from './verify-draw.ts'

const oddsRows = TypeCompiler.Compile(Type.Array(OddsRow))

function parseStoredOdds(text: string): OddsRow[] {
  const rows: unknown = JSON.parse(text)
  if (!oddsRows.Check(rows)) throw new Error('the stored odds are malformed')
  return rows
}

const MAX_USERS_PER_QUERY = 100

/** The whole catalogue, newest first. */
export async function allDecorations(db: Kysely<Tables>): Promise<Decoration[]> {
  const rows = await selectDecorations(db).execute()
  return rows.map(toDecoration)
}

/** A page of the catalogue, newest first, after the cursor at which the page before ended. */
export async function newestDecorations(
  db: Kysely<Tables>,
  limit: number,
  cursor: readonly number[] | null,
): Promise<Decoration[]> {
  let query = selectDecorations(db).limit(limit)
  if (cursor !== null) query = query.where(isAfterCursor('created_at', 'decoration_id', cursor))
  return (await query.execute()).map(toDecoration)
}

export async function decorationById(db: Kysely<Tables>, id: number): Promise<Decoration | undefined> {
  const row = await selectDecorations(db).where('decoration_id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : toDecoration(row)
}

/** Names, images and videos of gifts by id. */
export async function decorationNames(db: Kysely<Tables>, ids: readonly number[]) {
  const rows = await db
    .selectFrom('decorations')
    .select(['decoration_id', 'name', 'image_path', 'video_path'])
    .where(isAnyOf('decoration_id', ids))
    .execute()
  return new Map(rows.map(({ decoration_id, ...names }) => [decoration_id, names]))
}

const selectDecorations = (db: Kysely<Tables>) =>
  db
    .selectFrom('decorations')
    .select(['decoration_id', 'name', 'name_ar', 'kind', 'price', 'image_path', 'video_path', 'odds', 'odds_hash'])
    .select(micros('created_at').as('micros'))
    .orderBy('created_at', 'desc')
    .orderBy('decoration_id', 'desc')

type DecorationRow = Omit<Selectable<Tables['decorations']>, 'created_at'> & { readonly micros: number }

const toDecoration = ({ micros, odds, kind, ...row }: DecorationRow): Decoration => ({
  ...row,
  kind: Value.Parse(GiftKind, kind),
  odds: parseStoredOdds(odds),
  created_at: micros,
})

/** An odds table, current or former. */
export async function publishedOddsTable(db: Kysely<Tables>, hash: string): Promise<PublishedOddsTable | undefined> {
  const row = await db.selectFrom('odds_tables').selectAll().where('odds_hash', '=', hash).executeTakeFirst()
  if (row === undefined) return undefined
  const odds = parseStoredOdds(row.odds)
  return {
    odds_hash: row.odds_hash,
    decoration_id: row.decoration_id,
    odds: odds.map(publishedRow),
    return_to_player: returnToPlayerFraction(odds),
  }
}

/** The stored rows of an odds table. */
async function findOdds(db: Kysely<Tables>, hash: string): Promise<readonly OddsRow[] | undefined> {
  const row = await db.selectFrom('odds_tables').select('odds').where('odds_hash', '=', hash).executeTakeFirst()
  return row === undefined ? undefined : parseStoredOdds(row.odds)
}

/** The commitments of a chain that was ever published: one, or without an incarnation one for each that has the chain. */
async function findCommitments(
  db: Kysely<Tables>,
  { incarnation, chain }: Pick<VerifyDraw, 'incarnation' | 'chain'>,
): Promise<readonly string[]> {
  const ofChain = db.selectFrom('lucky_chains').select('commitment').where('chain', '=', chain)
  const rows = await (incarnation === undefined ? ofChain : ofChain.where('incarnation', '=', incarnation)).execute()
  return rows.map(({ commitment }) => commitment)
}

/** Chains of the current incarnation. */
const progressRows = new PreparedStatement<LuckyProgress>(
  'lucky chains of users',
  `select user_id, incarnation, number, used, client_seed, commitment, next_commitment
   from lucky_progress join ledger_incarnation using (incarnation)
   where user_id = any(${listOf('$1', 'bigint')})`,
)

/**
 * Users' current and next chains, null before the first one is opened; those requested at the same time are read with
 * one query.
 */
export const chainLookup = (db: Kysely<Tables>) =>
  new BatchedLookup(
    MAX_USERS_PER_QUERY,
    async (userIds: readonly number[]) => {
      const rows = await progressRows.execute(db, [userIds])
      const chains = new Map(rows.map((row) => [row.user_id, publishedChains(row)]))
      return userIds.map((id) => chains.get(id) ?? null)
    },
    requestLimits(db),
  )

interface PositionedDraw {
  readonly position: number
  readonly draw: PublishedDraw
}

export interface DrawPage {
  readonly draws: readonly PositionedDraw[]
  /** Whether there are older sends. */
  readonly hasMore: boolean
}

/**
 * A page may exceed small sends by this many bytes of event data: 200 sends to 100 receivers each would make a page of a
 * megabyte, which would block other requests. Bytes are used because PostgreSQL knows the length of an event without
 * reading it, while counting orders would cost more than making the page.
 */
const SMALL_SEND_BYTES = 1_024
const MAX_EXCESS_BYTES = 24 * 1_024

interface DrawRow extends Pick<LedgerEntry, 'position' | 'version' | 'data' | 'at'> {
  readonly place: number
  /** The position of the user's next older send; null for the oldest. */
  readonly next: number | null
}

/** `$1`: actors, `$2`: sizes of their pages, `$3`: the positions before which their draws are read. */
const drawPages = new PreparedStatement<DrawRow>(
  'draws of users',
  `select requested.place, counted.next, e.position, e.version, e.data, ${microsOf('e.at')} as at
   from unnest(${listOf('$1', 'text')}, ${listOf('$2', 'bigint')}, ${listOf('$3', 'bigint')})
     with ordinality as requested (actor, size, before, place)
   cross join lateral (
     select position, row_number() over newest_first as number, lead(position) over newest_first as next,
            coalesce(sum(beyond) over (newest_first rows between unbounded preceding and 1 preceding), 0)
              as beyond_before
     from (
       select d.position, greatest(octet_length(d.data) - ${SMALL_SEND_BYTES}, 0) as beyond
       from ledger_events d
       where d.type = 'gift-drawn' and d.actor = requested.actor and d.position < requested.before
       order by d.position desc
       limit requested.size + 1) candidates
     window newest_first as (order by position desc)) counted
   join ledger_events e on e.position = counted.position
   where counted.number <= requested.size and counted.beyond_before < ${MAX_EXCESS_BYTES}
   order by counted.position desc`,
)

/** Pages read with one query. */
const MAX_DRAW_PAGES_PER_QUERY = 32

interface RequestedDraws {
  readonly userId: number
  /** Null: from the newest. */
  readonly before: number | null
  readonly limit: number
}

/**
 * Pages of users' drawn sends before a position, newest first, read from the ledger; those requested at the same time
 * with one query. At most `limit`; fewer when they have many orders, but at least one.
 */
export function drawLookup(db: Kysely<Tables>): (page: RequestedDraws) => Promise<DrawPage> {
  const pages = new BatchedLookup(
    MAX_DRAW_PAGES_PER_QUERY,
    async (requested: readonly RequestedDraws[]) => {
      const rows = await drawPages.execute(db, [
        requested.map(({ userId }) => `user:${userId}`),
        requested.map(({ limit }) => limit),
        requested.map(({ before }) => before ?? Number.MAX_SAFE_INTEGER),
      ])
      const byPlace = Map.groupBy(rows, ({ place }) => place)
      return requested.map((_page, i) => byPlace.get(i + 1) ?? [])
    },
    requestLimits(db),
  )
  return async (page) => {
    const rows = await pages.load(page)
    return { draws: rows.map(positionedDraw), hasMore: (rows.at(-1)?.next ?? null) !== null }
  }
}

/** The draw at a position; undefined when there is none. */
async function findDraw(db: Kysely<Tables>, position: number): Promise<PublishedDraw | undefined> {
  const row = await db
    .selectFrom('ledger_events')
    .select(['position', 'version', 'data', micros('at').as('at')])
    .where('type', '=', 'gift-drawn')
    .where('position', '=', position)
    .executeTakeFirst()
  return row === undefined ? undefined : positionedDraw(row).draw
}

function positionedDraw(row: Omit<DrawRow, 'place' | 'next'>): PositionedDraw {
  const type = 'gift-drawn'
  const event = parseEvent({ ...row, type, movements: [] }, () => parsePacked(type, row.version, row.data))
  if (event.type !== 'gift-drawn') throw new Error(`the event at ${row.position} is no draw`)
  const { incarnation, chain, k, link, announced, client_seed, decoration_id, odds_hash, price, quantity, draws } =
    event.data
  const orders = draws.map(({ r, reward }, i) => ({ order_id: orderId(event.position, i), r, reward_num: reward }))
  const created_at = isoMicros(event.at)
  const published = { incarnation, chain, k, link, announced, client_seed, decoration_id, odds_hash }
  return { position: event.position, draw: { ...published, stake: price * quantity, orders, created_at } }
}

/**
 * Prepares the verification of a draw against the published commitment and the ledger. Returns errors by field when the
 * odds that were sent are invalid.
 */
export async function checkDraw(
  db: Kysely<Tables>,
  draw: VerifyDraw,
): Promise<{ readonly check: IncrementalVerdict } | { readonly errors: FieldErrors }> {
  const sent = draw.odds === undefined ? undefined : parseOdds(draw.odds)
  if (sent !== undefined && 'errors' in sent) return sent
  const position = parseOrderId(draw.orders.find(({ order_id }) => order_id !== undefined)?.order_id ?? '')
  const [commitments, odds, recorded] = await Promise.all([
    findCommitments(db, draw),
    draw.odds_hash === undefined ? undefined : findOdds(db, draw.odds_hash),
    position === undefined ? undefined : findDraw(db, position),
  ])
  const sentRows = sent?.rows
  return {
    check: verifyDraw(draw, { commitments, odds: odds ?? sentRows, sentOdds: sentRows, recorded }),
  }
}

export interface BagRow {
  readonly user_id: number
  readonly decoration_id: number
  readonly quantity: number
  readonly name: string
  readonly name_ar: string | null
  readonly image_path: string
}

const bagRows = new PreparedStatement<BagRow>(
  'bags of users',
  `select i.user_id, i.decoration_id, i.quantity, d.name, d.name_ar, d.image_path
   from bag_items i join decorations d on d.decoration_id = i.decoration_id
   where i.user_id = any(${listOf('$1', 'bigint')}) order by i.added_at desc`,
)

/** Users' bags, most recently added first; those requested at the same time are read with one query. */
export const bagLookup = (db: Kysely<Tables>) =>
  new BatchedLookup(
    MAX_USERS_PER_QUERY,
    async (userIds: readonly number[]) => {
      const bags = Map.groupBy(await bagRows.execute(db, [userIds]), ({ user_id }) => user_id)
      return userIds.map((id) => bags.get(id) ?? [])
    },
    requestLimits(db),
  )
