import type { Kysely } from 'kysely'
import type { EventData, RouletteEntry } from '../../../../schema/events.ts'
import { isAnyOf } from '../../../db/queries/expressions.ts'
import type { Tables } from '../../../db/tables.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import { readNewestOf } from '../../events/stored-events.ts'
import { amountCell, codeCell, statusCell, type Tone, timeCell } from '../../frame/cells.ts'
import { eventPath, idCell } from '../../frame/links.ts'
import { column, noFilters, numberColumn } from '../../lists/list.ts'
import { beforeOf, pageOfRows } from '../../lists/next-page.ts'
import { userIdIn } from '../find-user.ts'
import { defineUserSection } from '../user-section.ts'

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

export const gamesSection = defineUserSection<typeof noFilters, Seat>({
  path: 'games',
  label: 'Games',
  filters: noFilters,
  isOfNow: true,
  empty: 'No seat in a game has been taken here.',
  columns: [
    column('game_id', 'Game', ({ join }) => idCell('game', join.game_id)),
    column('joined_at', 'Joined', ({ at, position }) => timeCell(at, eventPath(position))),
    column('room_id', 'Room', ({ join }) => codeCell(String(join.room_id))),
    numberColumn('stake', 'Stake (coins)', ({ join }) => amountCell('coins', join.stake)),
    column('outcome', 'Outcome', ({ outcome }) => statusCell(outcome, tones[outcome])),
    numberColumn('paid', 'Paid (coins)', ({ paid }) => amountCell('coins', paid)),
  ],
  read: async ({ db, at, cursor, limit }, request) => {
    const before = beforeOf(cursor, at)
    const user = userIdIn(request.params)
    const joins = await readNewestOf(db, { type: 'roulette-joined', user, before, limit: limit + 1 })
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
})

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
