import { amountCell, type Cell, formatUnits, formatWord, textCell } from '../../frame/cells.ts'
import { showTable, type Table } from '../../lists/list.ts'
import { userPath } from '../person.ts'
import type { UserBalances, Wallet } from './balances.ts'

/** The balances of a user, each linked to its account, and to the page that explains it. */
export function balancesTable(user: number, { wallets, position }: UserBalances): Table {
  const columns = [
    {
      name: 'currency',
      title: 'Currency',
      cell: ({ currency, account }: Wallet) => textCell(formatWord(currency), `/console/accounts/${account}`),
    },
    amountColumn('balance', 'Balance', ({ balance }) => balance),
    amountColumn('held', 'On hold', ({ held }) => held),
    amountColumn('available', 'Can be spent', ({ available }) => available),
    {
      name: 'why',
      title: 'Explained',
      cell: ({ currency }: Wallet) =>
        textCell(`Where ${formatWord(currency)} come from`, `${userPath(user)}/balances/${currency}`),
    },
  ]
  return partTable({ label: 'Balances', columns, rows: wallets, at: position })
}

const amountColumn = (name: string, title: string, amountOf: (wallet: Wallet) => bigint) => ({
  name,
  title,
  isNumber: true,
  cell: (wallet: Wallet) => amountCell(wallet.currency, amountOf(wallet)),
})

/** A table that is a part of a page, without pages and exports of its own. */
export const partTable = <Row>({
  label,
  columns,
  rows,
  at,
  empty = 'None.',
}: Pick<Parameters<typeof showTable<never, Row>>[0], 'label' | 'columns'> & {
  readonly rows: readonly Row[]
  readonly at: number
  readonly empty?: string
}): Table => showTable({ label, columns, empty }, { path: '', query: {}, at, rows, next: null, hasExports: false })

/** Why so much of a balance can be spent: the balance, less each hold, as a calculation. */
export interface HoldsExplained {
  readonly question: string
  readonly table: Table
}

interface Step {
  readonly what: Cell
  readonly amount: bigint
}

/** One calculation for each wallet of which something is on hold. */
export function explainHolds(user: number, name: string, { wallets, position }: UserBalances): HoldsExplained[] {
  return wallets
    .filter(({ held }) => held !== 0n)
    .map((wallet) => {
      const { currency, account, balance, available, holds, otherHolds } = wallet
      const requests = `${userPath(user)}/withdrawals`
      const steps: Step[] = [
        { what: textCell(`Balance of ${account}`, `/console/accounts/${account}`), amount: balance },
        ...holds.map(({ withdrawal_id: id, type, amount }) => ({
          what: textCell(`Less ${formatWord(type)} withdrawal ${id}, pending`, `/console/withdrawals/${id}`),
          amount: -amount,
        })),
        ...(otherHolds === 0n
          ? []
          : [{ what: textCell('Less older pending withdrawals', `${requests}?status=pending`), amount: -otherHolds }]),
        { what: textCell('Can be spent'), amount: available },
      ]
      const question = `Why can ${name} spend ${formatUnits(currency, available)} ${formatWord(currency)}?`
      return {
        question,
        table: partTable({
          label: question,
          columns: [
            { name: 'what', title: 'What', cell: ({ what }: Step) => what },
            {
              name: 'amount',
              title: formatWord(currency),
              isNumber: true,
              cell: ({ amount }: Step) => amountCell(currency, amount),
            },
          ],
          rows: steps,
          at: position,
        }),
      }
    })
}
