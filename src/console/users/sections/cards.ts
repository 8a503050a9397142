import { Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import { micros } from '../../../db/queries/micros.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import { codeCell, numberCell, textCell, timeCell } from '../../frame/cells/cells.ts'
import { eventCell, eventPath } from '../../frame/cells/links.ts'
import type { List } from '../../lists/list.ts'
import { userIdIn } from '../user/find-user.ts'
import { defineUserSection } from '../user/user-section.ts'
import { beforeOf, pageOfRows } from './next-page.ts'

interface StoredCard {
  readonly card_id: number
  readonly privilege_package_id: number
  readonly name: string
  readonly rank: number
  readonly valid_days: number
  /** When the card entered the wallet, and the position of that event. */
  readonly created_at: Micros
  readonly entered: number
}

const filters = Type.Object({})

const cards: List<typeof filters, StoredCard> = {
  label: 'Stored cards',
  filters,
  isOfNow: true,
  empty: 'No card is stored here. Cards come from staff or from other users.',
  columns: [
    { name: 'card_id', title: 'Card', cell: ({ card_id }) => eventCell(card_id) },
    { name: 'package', title: 'Package', cell: ({ name }) => textCell(name) },
    { name: 'package_id', title: 'Package id', cell: ({ privilege_package_id: id }) => codeCell(String(id)) },
    { name: 'rank', title: 'Rank', isNumber: true, cell: ({ rank }) => numberCell(rank) },
    { name: 'valid_days', title: 'Days', isNumber: true, cell: ({ valid_days }) => numberCell(valid_days) },
    {
      name: 'entered_at',
      title: 'In the wallet since',
      cell: ({ created_at, entered }) => timeCell(created_at, eventPath(entered)),
    },
  ],
  read: async ({ db, at, cursor, limit }, request) => {
    const rows = await db
      .selectFrom('privilege_cards as c')
      .innerJoin('privilege_packages as p', 'p.privilege_package_id', 'c.privilege_package_id')
      .select(['c.card_id', 'c.privilege_package_id', 'c.valid_days', 'c.entered', 'p.name', 'p.rank'])
      .select(micros('c.created_at').as('created_at'))
      .where('c.owner_id', '=', userIdIn(request.params))
      // The predicate of the partial index.
      .where(sql<boolean>`not c.activated`)
      .where('c.entered', '<', beforeOf(cursor, at))
      .orderBy('c.entered', 'desc')
      .limit(limit + 1)
      .execute()
    return pageOfRows(rows, limit, ({ entered }) => entered)
  },
}

export const cardsSection = defineUserSection({ path: 'cards', title: 'Stored cards' }, cards)
