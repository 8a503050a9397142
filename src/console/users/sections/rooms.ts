import { sql } from 'kysely'
import { micros } from '../../../db/queries/expressions.ts'
import { decodeCursor } from '../../../http/pages.ts'
import { account } from '../../../ledger/rules/account.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import { codeCell, numberCell, textCell, timeCell } from '../../frame/cells.ts'
import { accountCell } from '../../frame/links.ts'
import { column, noFilters, numberColumn } from '../../lists/list.ts'
import { pageOfRows } from '../../lists/next-page.ts'
import { userIdIn } from '../find-user.ts'
import { defineUserSection } from '../user-section.ts'

interface RoomRow {
  readonly room_id: number
  readonly uid: string
  readonly name: string
  readonly is_owner: boolean
  readonly trophy_points: number
  readonly joined_at: Micros
}

export const roomsSection = defineUserSection<typeof noFilters, RoomRow>({
  path: 'rooms',
  label: 'Rooms',
  filters: noFilters,
  isOfNow: true,
  empty: 'A member of no room. Rooms are joined in the app, and appear here then.',
  columns: [
    column('room_id', 'Room', ({ room_id }) => codeCell(String(room_id))),
    column('name', 'Name', ({ name }) => textCell(name)),
    column('uid', 'Uid', ({ uid }) => codeCell(uid)),
    column('role', 'Role', ({ is_owner }) => textCell(is_owner ? 'owner' : 'member')),
    column('joined_at', 'Member since', ({ joined_at }) => timeCell(joined_at)),
    numberColumn('trophy_points', 'Trophy points', ({ trophy_points }) => numberCell(trophy_points)),
    column('account', 'Income', ({ room_id }) => accountCell(account('room', room_id, 'target'))),
  ],
  // By id, in the order of the index: who is a member of thousands of rooms must not make the page slow.
  read: async ({ db, at, cursor, limit }, request) => {
    const user = userIdIn(request.params)
    const [after = 0] = cursor === null ? [] : decodeCursor(cursor, 1)
    const rows = await db
      .selectFrom('room_memberships as m')
      .innerJoin('rooms as r', 'r.room_id', 'm.room_id')
      .innerJoin('room_profiles as p', 'p.room_id', 'm.room_id')
      .select((eb) => ['m.room_id', 'p.uid', 'p.name', 'r.trophy_points', eb('r.owner_id', '=', user).as('is_owner')])
      .select(micros('m.joined_at').as('joined_at'))
      .where('m.user_id', '=', user)
      .where('m.room_id', '>', after)
      .where('m.joined_at', '<=', timeOf(at))
      .orderBy('m.room_id')
      .limit(limit + 1)
      .execute()
    return pageOfRows(
      rows.map(({ is_owner, ...row }) => ({ ...row, is_owner: Boolean(is_owner) })),
      limit,
      ({ room_id }) => room_id,
    )
  },
})

/** When the event at a position happened; before all of them at 0. */
const timeOf = (at: number) =>
  sql<string>`coalesce((select e.at from ledger_events e where e.position = ${at}), 'epoch')`
