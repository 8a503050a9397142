import type { ProposalRecord } from '../../../schema/proposals.ts'
import type { NamedHold } from '../../audit/reports/accounts/holds-at.ts'
import { canBeHeld } from '../../ledger/rules/account.ts'
import { isDollars } from '../../ledger/rules/money.ts'
import { amountCell, type Cell, codeCell, textCell } from '../frame/cells/cells.ts'
import { type PartColumn, partTable, type Table } from '../lists/list.ts'

type Effect = ProposalRecord['effects'][number]

const effectColumns: readonly PartColumn<Effect>[] = [
  { title: 'Account', cell: ({ account }) => codeCell(account, accountAddress(account)) },
  {
    title: 'Before',
    isNumber: true,
    cell: ({ account, before }) => unitsCell(currencyIn(account), before),
  },
  {
    title: 'Change',
    isNumber: true,
    cell: ({ account, before, after }) => {
      const currency = currencyIn(account)
      const change = unitsOf(currency, after) - unitsOf(currency, before)
      const cell = amountCell(currency, change)
      return change > 0n ? { ...cell, text: `+${cell.text}` } : cell
    },
  },
  {
    title: 'After',
    isNumber: true,
    cell: ({ account, after }) => unitsCell(currencyIn(account), after),
  },
]

/** Of an account with something on hold, which stays there. */
interface Held {
  readonly effect: Effect
  readonly held: bigint
}

const heldColumn = (title: string, units: (currency: string, row: Held) => bigint | null): PartColumn<Held> => ({
  title,
  isNumber: true,
  cell: (row) => {
    const currency = currencyIn(row.effect.account)
    return amountCell(currency, canBeHeld(row.effect.account) ? units(currency, row) : null)
  },
})

const holdColumns: readonly PartColumn<Held>[] = [
  heldColumn('On hold', (_currency, { held }) => held),
  heldColumn('Can be spent before', (currency, { effect, held }) => unitsOf(currency, effect.before) - held),
  heldColumn('Can be spent after', (currency, { effect, held }) => unitsOf(currency, effect.after) - held),
]

/** With what can be spent, where a part of a balance is on hold. */
export function effectsTable({ effects, status }: ProposalRecord, holds: readonly NamedHold[]): Table {
  const heldBy = Map.groupBy(holds, ({ account }) => account)
  const rows = effects.map((effect): Held => {
    const held = (heldBy.get(effect.account) ?? []).reduce((sum, { amount }) => sum + amount, 0n)
    return { effect, held }
  })
  const columns = effectColumns.map(
    ({ cell, ...column }): PartColumn<Held> => ({ ...column, cell: (row) => cell(row.effect) }),
  )
  return partTable({
    label: status === 'open' ? 'What an approval would move now' : 'What was decided upon',
    empty: 'It would move nothing.',
    columns: holds.length === 0 ? columns : [...columns, ...holdColumns],
    rows,
  })
}

/** What a proposal asks for; of a salary file in several currencies no amount. */
export const amountOf = ({ currency, amount }: ProposalRecord): Cell =>
  amount === null || currency === null ? textCell(null) : unitsCell(currency, amount)

const unitsCell = (currency: string, value: Effect['before']): Cell => amountCell(currency, unitsOf(currency, value))

/** In the smallest unit: dollars come with cents, everything else in ones. */
function unitsOf(currency: string, value: Effect['before']): bigint {
  const text = String(typeof value === 'object' ? value.rawJSON : value)
  if (!isDollars(currency)) return BigInt(text)
  const [whole = '0', cents = ''] = text.replace('-', '').split('.')
  const units = BigInt(whole + cents.padEnd(2, '0').slice(0, 2))
  return text.startsWith('-') ? -units : units
}

/** Of an account of the ledger; stored cards and a bag are counted in ones. */
const currencyIn = (account: string): string => account.split(':').at(-1) ?? ''

/** Stored cards and bags are no accounts of the ledger: they are on their user's page. */
function accountAddress(account: string): string {
  const [, id = '', ...rest] = account.split(':')
  return rest[0] === 'cards' || rest[0] === 'bag' ? `/console/users/${id}` : `/console/accounts/${account}`
}
