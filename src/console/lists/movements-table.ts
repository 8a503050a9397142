import type { Movement } from '../../ledger/rules/account.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import { amountCell } from '../frame/cells.ts'
import { accountCell, eventCell } from '../frame/links.ts'
import { numberPart, type PartColumn, part, partTable, type Table } from './list.ts'

/** From which account to which one, and how much. */
export const movementColumns: readonly PartColumn<Movement>[] = [
  part('From', ({ debit }) => accountCell(debit)),
  part('To', ({ credit }) => accountCell(credit)),
  numberPart('Amount', ({ debit, amount }) => amountCell(currencyOf(debit), amount)),
]

interface Movements {
  readonly label: string
  readonly empty: string
  /** Each with the event that has it. */
  readonly rows: readonly (Movement & { readonly position: number })[]
}

/** Movements of one event or several, as a part of a page. */
export const movementsTable = ({ label, empty, rows }: Movements): Table =>
  partTable<Movements['rows'][number]>({
    label,
    empty,
    columns: [...movementColumns, part('Event', ({ position }) => eventCell(position))],
    rows,
  })
