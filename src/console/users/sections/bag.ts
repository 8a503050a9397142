import { Type } from '@sinclair/typebox'
import { codeCell, numberCell, textCell } from '../../frame/cells/cells.ts'
import { eventCell } from '../../frame/cells/links.ts'
import type { List } from '../../lists/list.ts'
import { userIdIn } from '../user/find-user.ts'
import { defineUserSection } from '../user/user-section.ts'
import { beforeOf, pageOfRows } from './next-page.ts'

interface BagRow {
  readonly decoration_id: number
  readonly name: string
  readonly quantity: number
  /** Position of the event that last added to it. */
  readonly added_at: number
}

const filters = Type.Object({})

const bag: List<typeof filters, BagRow> = {
  label: 'Gifts in the bag',
  filters,
  isOfNow: true,
  empty: 'The bag is empty. Staff can put gifts into it.',
  columns: [
    { name: 'decoration_id', title: 'Gift id', cell: ({ decoration_id }) => codeCell(String(decoration_id)) },
    { name: 'name', title: 'Gift', cell: ({ name }) => textCell(name) },
    { name: 'quantity', title: 'Quantity', isNumber: true, cell: ({ quantity }) => numberCell(quantity) },
    {
      name: 'last_added',
      title: 'Last added by event',
      cell: ({ added_at }) => eventCell(added_at),
    },
  ],
  read: async ({ db, at, cursor, limit }, request) => {
    const rows = await db
      .selectFrom('bag_items as i')
      .innerJoin('decorations as d', 'd.decoration_id', 'i.decoration_id')
      .select(['i.decoration_id', 'i.quantity', 'i.added_at', 'd.name'])
      .where('i.user_id', '=', userIdIn(request.params))
      .where('i.added_at', '<', beforeOf(cursor, at))
      .orderBy('i.added_at', 'desc')
      .limit(limit + 1)
      .execute()
    return pageOfRows(rows, limit, ({ added_at }) => added_at)
  },
}

export const bagSection = defineUserSection({ path: 'bag', title: 'Gifts in the bag' }, bag)
