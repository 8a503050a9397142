import { currencyOf } from '../../ledger/rules/account.ts'
import type { Movement } from '../../ledger/rules/event.ts'
import { amountCell } from '../frame/cells/cells.ts'
import { accountCell, eventCell } from '../frame/cells/links.ts'
import { type PartColumn, partTable, type Table } from './list.ts'

/** From which account to which one, and how much. */
export const movementColumns: readonly PartColumn<Movement>[] = [
  { title: 'From', cell: ({ debit }) => accountCell(debit) },
  { title: 'To', cell: ({ credit }) => accountCell(credit) },
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ debit, amount }) => amountCell(currencyOf(debit), amount),
  },
]

interface Movements {
  readonly label: string
  readonly empty: string
  /** Each with the event that has it. */
  readonly rows: readonly (Movement & { readonly position: number })[]
}

/** Movements of one event or several, as a part of a page. */
export const movementsTable = ({ label, empty, rows }: Movements): Table =>
  partTable({
    label,
    empty,
    columns: [
      ...movementColumns,
      { title: 'Event', cell: ({ position }: Movements['rows'][number]) => eventCell(position) },
    ],
    rows,
  })
