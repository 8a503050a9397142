import type { ProposalRecord } from '../../../schema/proposals.ts'
import type { NamedHold } from '../../audit/reports/accounts/balances-at.ts'
import { canBeHeld } from '../../ledger/rules/account.ts'
import { isDollars } from '../../ledger/rules/money.ts'
import { amountCell, type Cell, codeCell } from '../frame/cells.ts'
import { pagePath } from '../frame/links.ts'
import { type Column, column, numberColumn, partTable, type Table } from '../lists/list.ts'

type Effect = ProposalRecord['effects'][number]

/** What a proposal does to an account. */
export const effectColumns: readonly Column<Effect>[] = [
  column('account', 'Account', ({ account }) => codeCell(account, accountAddress(account))),
  numberColumn('before', 'Before', ({ account, before }) => unitsCell(currencyIn(account), before)),
  numberColumn('change', 'Change', ({ account, before, after }) => {
    const currency = currencyIn(account)
    const change = unitsOf(currency, after) - unitsOf(currency, before)
    const cell = amountCell(currency, change)
    return change > 0n ? { ...cell, text: `+${cell.text}` } : cell
  }),
  numberColumn('after', 'After', ({ account, after }) => unitsCell(currencyIn(account), after)),
]

/** An account with something on hold, which stays there. */
interface Held {
  readonly effect: Effect
  readonly held: bigint
}

const heldColumn = (
  name: string,
  title: string,
  units: (currency: string, row: Held) => bigint | null,
): Column<Held> => ({
  name,
  title,
  isNumber: true,
  cell: (row) => {
    const currency = currencyIn(row.effect.account)
    return amountCell(currency, canBeHeld(row.effect.account) ? units(currency, row) : null)
  },
})

const holdColumns: readonly Column<Held>[] = [
  heldColumn('held', 'On hold', (_currency, { held }) => held),
  heldColumn(
    'available_before',
    'Can be spent before',
    (currency, { effect, held }) => unitsOf(currency, effect.before) - held,
  ),
  heldColumn(
    'available_after',
    'Can be spent after',
    (currency, { effect, held }) => unitsOf(currency, effect.after) - held,
  ),
]

/** With what can be spent, where a part of a balance is on hold. */
export function effectsTable(
  { status }: Pick<ProposalRecord, 'status'>,
  effects: readonly Effect[],
  holds: readonly NamedHold[],
): Table {
  const heldBy = Map.groupBy(holds, ({ account }) => account)
  const rows = effects.map((effect): Held => {
    const held = (heldBy.get(effect.account) ?? []).reduce((sum, { amount }) => sum + amount, 0n)
    return { effect, held }
  })
  const columns = effectColumns.map(
    ({ cell, ...column }): Column<Held> => ({ ...column, cell: (row) => cell(row.effect) }),
  )
  return partTable({
    label: status === 'open' ? 'What an approval would move now' : 'What was decided upon',
    empty: 'It would move nothing.',
    columns: holds.length === 0 ? columns : [...columns, ...holdColumns],
    rows,
  })
}

const unitsCell = (currency: string, value: Effect['before']): Cell => amountCell(currency, unitsOf(currency, value))

/** In the smallest unit: dollars come with cents, everything else in ones. */
function unitsOf(currency: string, value: Effect['before']): bigint {
  const text = String(typeof value === 'object' ? value.rawJSON : value)
  if (!isDollars(currency)) return BigInt(text)
  const [whole = '0', cents = ''] = text.replace('-', '').split('.')
  const units = BigInt(whole + cents.padEnd(2, '0').slice(0, 2))
  return text.startsWith('-') ? -units : units
}

/** The currency of an account; stored cards and a bag are counted in ones. */
const currencyIn = (account: string): string => account.split(':').at(-1) ?? ''

/** Stored cards and bags are no accounts of the ledger: they are on their user's page, and a price on its gift's. */
function accountAddress(account: string): string {
  const [kind, id = '', ...rest] = account.split(':')
  if (kind === 'decoration') return pagePath('gift', id)
  return rest[0] === 'cards' || rest[0] === 'bag' ? pagePath('user', id) : `/console/accounts/${account}`
}
