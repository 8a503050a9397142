import type { ProposalRecord } from '../../../schema/proposals.ts'
import { codeCell, wordCell } from '../frame/cells/cells.ts'
import { userPath } from '../frame/cells/links.ts'
import { type Column, partTable, type Table } from '../lists/list.ts'

type UnpaidRow = NonNullable<ProposalRecord['not_paid']>[number]

/** Of a row of a salary file that is not paid. */
export const unpaidColumns: readonly Column<UnpaidRow>[] = [
  { name: 'user_id', title: 'User', cell: ({ user_id }) => codeCell(String(user_id), userPath(user_id)) },
  { name: 'code', title: 'Why', cell: ({ code }) => wordCell(code) },
]

export const unpaidTable = ({ status }: Pick<ProposalRecord, 'status'>, rows: readonly UnpaidRow[]): Table =>
  partTable({
    label: status === 'open' ? 'Rows that an approval would not pay now' : 'Rows that are not paid by it',
    empty: 'All rows are paid.',
    columns: unpaidColumns,
    rows,
  })
