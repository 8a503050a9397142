import { amountCell, type Cell, formatUnits, formatWord, textCell, wordCell } from '../../frame/cells/cells.ts'
import { accountPath, userPath } from '../../frame/cells/links.ts'
import { partTable, type Table } from '../../lists/list.ts'
import type { UserBalances, Wallet } from './balances.ts'

/** The balances of a user, each linked to its account, and to the page that explains it. */
export function balancesTable(user: number, { wallets }: UserBalances): Table {
  const columns = [
    {
      title: 'Currency',
      cell: ({ currency, account }: Wallet) => wordCell(currency, accountPath(account)),
    },
    amountColumn('Balance', ({ balance }) => balance),
    amountColumn('On hold', ({ held }) => held),
    amountColumn('Can be spent', ({ available }) => available),
    {
      title: 'Explained',
      cell: ({ currency }: Wallet) =>
        textCell(
          `Where ${currency === 'target' ? 'target points' : formatWord(currency)} come from`,
          `${userPath(user)}/balances/${currency}`,
        ),
    },
  ]
  return partTable({ label: 'Balances', columns, rows: wallets, empty: 'None.' })
}

const amountColumn = (title: string, amountOf: (wallet: Wallet) => bigint) => ({
  title,
  isNumber: true,
  cell: (wallet: Wallet) => amountCell(wallet.currency, amountOf(wallet)),
})

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
export function explainHolds(user: number, name: string, { wallets }: UserBalances): HoldsExplained[] {
  return wallets
    .filter(({ held }) => held !== 0n)
    .map((wallet) => {
      const { currency, account, balance, available, holds, otherHolds } = wallet
      const requests = `${userPath(user)}/withdrawals`
      const steps: Step[] = [
        { what: textCell(`Balance of ${account}`, accountPath(account)), amount: balance },
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
            { title: 'What', cell: ({ what }: Step) => what },
            { title: formatWord(currency), isNumber: true, cell: ({ amount }: Step) => amountCell(currency, amount) },
          ],
          rows: steps,
          empty: 'Nothing is on hold.',
        }),
      }
    })
}
