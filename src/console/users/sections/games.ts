import { Type } from '@sinclair/typebox'
import { type Kysely, sql } from 'kysely'
import type { EventData, RouletteEntry } from '../../../../schema/events.ts'
import { isAnyOf } from '../../../db/queries/is-any-of.ts'
import type { Tables } from '../../../db/tables.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import type { TextRow } from '../../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry, parseStoredEvent } from '../../../ledger/storage/stored-event.ts'
import { amountCell, codeCell, statusCell, type Tone, timeCell } from '../../frame/cells/cells.ts'
import { eventPath } from '../../frame/cells/links.ts'
import type { List } from '../../lists/list.ts'
import { userIdIn } from '../user/find-user.ts'
import { defineUserSection } from '../user/user-section.ts'
import { beforeOf, pageOfRows } from './next-page.ts'

type Outcome = 'seated' | 'left' | 'won' | 'lost' | 'paid back'

/** A seat that the user took in a game. */
interface Seat {
  readonly position: number
  readonly at: Micros
  readonly join: EventData<'roulette-joined'>
  readonly outcome: Outcome
  /** Coins that the game has paid; null while it is open. */
  readonly paid: number | null
}

const tones: Readonly<Record<Outcome, Tone>> = {
  seated: 'waiting',
  left: 'neutral',
  won: 'good',
  lost: 'neutral',
  'paid back': 'neutral',
}

const filters = Type.Object({})

const games: List<typeof filters, Seat> = {
  label: 'Games',
  filters,
  isOfNow: true,
  empty: 'No seat in a game has been taken here.',
  columns: [
    {
      name: 'game_id',
      title: 'Game',
      cell: ({ join }) => codeCell(String(join.game_id), `/console/games/${join.game_id}`),
    },
    { name: 'joined_at', title: 'Joined', cell: ({ at, position }) => timeCell(at, eventPath(position)) },
    { name: 'room_id', title: 'Room', cell: ({ join }) => codeCell(String(join.room_id)) },
    { name: 'stake', title: 'Stake (coins)', isNumber: true, cell: ({ join }) => amountCell('coins', join.stake) },
    { name: 'outcome', title: 'Outcome', cell: ({ outcome }) => statusCell(outcome, tones[outcome]) },
    { name: 'paid', title: 'Paid (coins)', isNumber: true, cell: ({ paid }) => amountCell('coins', paid) },
  ],
  read: async ({ db, at, cursor, limit }, request) => {
    // The literals are those of the partial index.
    const { rows: entries } = await sql<TextRow>`
      select ${sql.raw(eventColumns)} from ledger_events e
      where e.type = 'roulette-joined' and e.actor = ${`user:${userIdIn(request.params)}`}
        and e.position < ${beforeOf(cursor, at)}
      order by e.position desc limit ${limit + 1}`.execute(db)
    const joins = entries
      .map((row) => parseStoredEvent(parseEntry(row)))
      .filter((event) => event.type === 'roulette-joined')
    const found = await gamesById(
      db,
      joins.map(({ data }) => data.game_id),
    )
    const rows = joins.map(({ position, at: joinedAt, data }) => ({
      position,
      at: joinedAt,
      join: data,
      ...outcomeOf(found.get(data.game_id), position, data),
    }))
    return pageOfRows(rows, limit, ({ position }) => position)
  },
}

interface Game {
  readonly status: string
  readonly prize: number
  readonly winner_id: number | null
  /** JSON of the seats. */
  readonly entries: string
}

async function gamesById(db: Kysely<Tables>, ids: readonly number[]): Promise<ReadonlyMap<number, Game>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('roulette_games')
    .select(['game_id', 'status', 'prize', 'winner_id', 'entries'])
    .where(isAnyOf('game_id', [...new Set(ids)]))
    .execute()
  return new Map(rows.map(({ game_id, ...game }) => [game_id, game]))
}

function outcomeOf(
  game: Game | undefined,
  position: number,
  { user_id, stake }: EventData<'roulette-joined'>,
): Pick<Seat, 'outcome' | 'paid'> {
  const entries: readonly RouletteEntry[] = JSON.parse(game?.entries ?? '[]')
  if (game === undefined || !entries.some(({ entry }) => entry === position)) return { outcome: 'left', paid: stake }
  if (game.status === 'open') return { outcome: 'seated', paid: null }
  if (game.status === 'cancelled') return { outcome: 'paid back', paid: stake }
  return game.winner_id === user_id ? { outcome: 'won', paid: game.prize } : { outcome: 'lost', paid: 0 }
}

export const gamesSection = defineUserSection({ path: 'games', title: 'Games' }, games)
