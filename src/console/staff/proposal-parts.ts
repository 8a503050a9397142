import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { FastifyRequest } from 'fastify'
import { dataOf, pageOf } from '../../../schema/common.ts'
import { ProposalEffectRecord, ProposalRecord } from '../../../schema/proposals.ts'
import type { NamedHold } from '../../audit/reports/accounts/balances-at.ts'
import type { App } from '../../features/services.ts'
import { idOf } from '../../http/validation/request-parts.ts'
import { canBeHeld } from '../../ledger/rules/account.ts'
import { isDollars } from '../../ledger/rules/money.ts'
import { bodyOf, type ConsoleServices } from '../console-services.ts'
import { amountCell, type Cell, codeCell, wordCell } from '../layout/cells.ts'
import { addressWith, idCell, pagePath } from '../layout/links.ts'
import {
  type Column,
  column,
  type List,
  type ListRequest,
  type ListRows,
  noFilters,
  numberColumn,
  PAGE_ROWS,
  pageOfAll,
  partTable,
  type Table,
} from '../lists/list.ts'
import { addListPage } from '../lists/list-page.ts'

/** Unpaid rows of a proposal are read all at once. */
const EXPORT_UNPAID_ROWS = 10_000
/** Effects that are read at a time, at most. */
const EXPORT_EFFECTS = 200

/** How many rows the page of a proposal shows; a salary file has thousands. */
export const SHOWN_ROWS = PAGE_ROWS

/** /console/proposals/{id}/effects and …/unpaid: all rows of a long proposal, page by page. */
export function partPages(scope: App, services: ConsoleServices): void {
  addPart(scope, services, {
    path: 'effects',
    label: 'Effects',
    columns: effectColumns,
    exportPageRows: EXPORT_EFFECTS,
    read: (id, { cursor, limit }, request) => readEffects(request, services, id, { cursor, limit }),
  })
  addPart(scope, services, {
    path: 'unpaid',
    label: 'Rows not paid',
    columns: unpaidColumns,
    exportPageRows: EXPORT_UNPAID_ROWS,
    read: async (id, { cursor, limit }, request) => {
      const { not_paid: rows } = await readProposal(request, services, id)
      return pageOfAll(rows, cursor, limit)
    },
  })
}

interface Part<Row> extends Pick<List<typeof noFilters, Row>, 'label' | 'columns' | 'exportPageRows'> {
  readonly path: string
  readonly read: (
    id: number,
    page: Pick<ListRequest<unknown>, 'cursor' | 'limit'>,
    request: FastifyRequest,
  ) => Promise<ListRows<Row>>
}

function addPart<Row>(scope: App, services: ConsoleServices, { path, read, ...list }: Part<Row>): void {
  addListPage(scope, services, {
    path: `/proposals/:id/${path}`,
    list: {
      ...list,
      filters: noFilters,
      isOfNow: true,
      empty: 'There are none.',
      read: (page, request) => read(idOf(request), page, request),
    },
    extras: (request) => {
      const id = idOf(request)
      return {
        title: `Proposal ${id}: ${list.label}`,
        heading: `${list.label} of proposal ${id}`,
        first: [{ text: [{ href: pagePath('proposal', id), text: `Proposal ${id}` }] }],
      }
    },
  })
}

type UnpaidRow = NonNullable<ProposalRecord['not_paid']>[number]

/** A row of a salary file that is not paid. */
const unpaidColumns: readonly Column<UnpaidRow>[] = [
  column('user_id', 'User', ({ user_id }) => idCell('user', user_id)),
  column('code', 'Why', ({ code }) => wordCell(code)),
]

export const unpaidTable = ({ status }: Pick<ProposalRecord, 'status'>, rows: readonly UnpaidRow[]): Table =>
  partTable({
    label: status === 'open' ? 'Rows that an approval would not pay now' : 'Rows that are not paid by it',
    empty: 'All rows are paid.',
    columns: unpaidColumns,
    rows,
  })

const response = TypeCompiler.Compile(dataOf(ProposalRecord))
const effectsResponse = TypeCompiler.Compile(pageOf(ProposalEffectRecord))

/** As it is now; an open one with what an approval would do. Throws a 404 when there is none with this id. */
export async function readProposal(
  request: FastifyRequest,
  { adminRequest }: Pick<ConsoleServices, 'adminRequest'>,
  id: number,
): Promise<ProposalRecord> {
  const body = bodyOf(await adminRequest(request, { path: `/proposals/${id}` }))
  if (!response.Check(body)) throw new Error('the proposal is not as the document says')
  return body.data
}

/** A page of what it moves. Throws a 404 when there is none with this id. */
async function readEffects(
  request: FastifyRequest,
  { adminRequest }: Pick<ConsoleServices, 'adminRequest'>,
  id: number,
  page: Pick<ListRequest<unknown>, 'cursor' | 'limit'>,
): Promise<ListRows<ProposalRecord['effects'][number]>> {
  const body = bodyOf(await adminRequest(request, { path: addressWith(`/proposals/${id}/effects`, { ...page }) }))
  if (!effectsResponse.Check(body)) throw new Error('the effects are not as the document says')
  return { rows: body.data, next: body.meta.next_cursor }
}

type Effect = ProposalRecord['effects'][number]

/** What a proposal does to an account. */
const effectColumns: readonly Column<Effect>[] = [
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
