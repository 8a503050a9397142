import { type Static, Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { listStaffActs, type StaffAct } from '../../audit/reports/events/staff-acts.ts'
import type { Tables } from '../../db/tables.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import { currencyOf, isSystem } from '../../ledger/rules/account.ts'
import { openRecords } from '../../vault/reads.ts'
import type { Vault } from '../../vault/vault.ts'
import { addressWith } from '../frame/address.ts'
import { amountCell, type Cell, codeCell, formatWord, textCell, timeCell } from '../frame/cells.ts'
import { accountPath, eventCell, userPath } from '../frame/links.ts'
import type { List, ListRequest, ListRows } from '../lists/list.ts'
import { periodFilters, readBounds } from '../lists/period-query.ts'

const Filters = Type.Object({
  /** A member of staff, as in the token. */
  sub: Type.Optional(Type.String({ pattern: '^[ -~]{0,100}$' })),
  ...periodFilters,
})
type Query = Static<typeof Filters>

interface Row extends StaffAct {
  /** The reason or, of a withdrawal, the note: null where there is none, or where it was erased or cannot be read. */
  readonly said: string | null
  readonly fields: Readonly<Record<string, unknown>>
}

/** What members of staff did, newest first. */
export const actList = (vault: Vault): List<typeof Filters, Row> => ({
  label: 'Acts of staff',
  filters: Filters,
  columns: [
    { name: 'at', title: 'When', cell: ({ entry }) => timeCell(entry.at) },
    { name: 'staff', title: 'Who', cell: ({ sub }) => textCell(sub, addressWith('/console/staff', { sub })) },
    { name: 'act', title: 'What', cell: (row) => textCell(actOf(row)) },
    { name: 'about', title: 'About', cell: aboutCell },
    { name: 'amount', title: 'Amount', isNumber: true, cell: amountOf },
    { name: 'currency', title: 'Currency', cell: ({ entry }) => textCell(currencyIn(entry)) },
    { name: 'reason', title: 'Reason or note', cell: ({ said }) => textCell(said) },
    { name: 'event', title: 'Event', cell: ({ entry }) => eventCell(entry.position) },
  ],
  empty: 'No member of staff did anything here. Clear the filters, or choose a longer period.',
  read: (request) => readActs(request, vault),
})

async function readActs({ query, db, at, cursor, limit }: ListRequest<Query>, vault: Vault): Promise<ListRows<Row>> {
  const { sub = '' } = query
  const { first, last } = await readBounds(db, query, at)
  const [before] = cursor === null ? [] : decodeCursor(cursor, 1)
  const { acts, next } = await listStaffActs(db, {
    limit,
    upTo: last,
    ...(sub === '' ? {} : { sub }),
    ...(before === undefined ? {} : { before }),
  })
  const within = acts.filter(({ entry }) => entry.position >= first)
  const hasMore = next !== null && next > first && within.length === acts.length
  return { rows: await withNotes(db, vault, within), next: hasMore ? encodeCursor([next]) : null }
}

/** Notes of withdrawals are in the vault, where they can be erased. */
async function withNotes(db: Kysely<Tables>, vault: Vault, acts: readonly StaffAct[]): Promise<Row[]> {
  const rows = acts.map((act) => ({ ...act, fields: fieldsOf(act) }))
  const noteOf = ({ entry, fields }: (typeof rows)[number]): string | null => {
    const { note } = fields
    return entry.type === 'withdrawal-status-changed' && typeof note === 'string' ? note : null
  }
  const notes = await openRecords(
    db,
    vault,
    rows.map(noteOf).filter((note) => note !== null),
  )
  return rows.map((row) => ({ ...row, said: row.reason ?? notes.get(noteOf(row) ?? '') ?? null }))
}

function fieldsOf({ entry }: StaffAct): Readonly<Record<string, unknown>> {
  const data: unknown = JSON.parse(entry.data)
  return typeof data === 'object' && data !== null ? { ...data } : {}
}

function actOf({ entry, fields }: Row): string {
  const to = fields['to']
  const isChange = entry.type === 'withdrawal-status-changed' && typeof to === 'string'
  return isChange ? `withdrawal ${to}` : formatWord(entry.type)
}

/** What has a page of its own, by the field that names it. */
const subjects: readonly (readonly [field: string, word: string, path: ((id: number) => string) | null])[] = [
  ['withdrawal_id', 'Withdrawal', (id) => `/console/withdrawals/${id}`],
  ['game_id', 'Game', (id) => `/console/games/${id}`],
  ['user_id', 'User', userPath],
  ['decoration_id', 'Gift', (id) => addressWith('/console/draws', { gift: id })],
  ['privilege_package_id', 'Package', null],
  ['room_id', 'Room', null],
  ['country_id', 'Country', null],
  ['proposal_id', 'Proposal', (id) => `/console/proposals/${id}`],
]

function aboutCell({ entry, fields }: Row): Cell {
  for (const [field, word, path] of subjects) {
    const id = fields[field]
    if (typeof id === 'number') return textCell(`${word} ${id}`, path?.(id))
  }
  const { sub, client_type } = fields
  if (typeof sub === 'string') return textCell(`Staff ${sub}`, addressWith('/console/staff', { sub }))
  if (typeof client_type === 'string') return textCell(client_type)
  const account = accountIn(entry)
  return account === null ? textCell(null) : codeCell(account, accountPath(account))
}

/** The side of a movement that is not the system's own. */
function accountIn({ movements }: StaffAct['entry']): string | null {
  const [movement] = movements
  if (movement === undefined) return null
  return isSystem(movement.debit) ? movement.credit : movement.debit
}

/** Of an act that moves one amount: negative where the system takes it. */
function amountOf({ entry }: Row): Cell {
  const [movement, ...others] = entry.movements
  if (movement === undefined || others.length > 0) return amountCell('coins', null)
  const { debit, credit, amount } = movement
  return amountCell(currencyOf(debit), isSystem(credit) && !isSystem(debit) ? -amount : amount)
}

const currencyIn = ({ movements }: StaffAct['entry']): string | null => {
  const [movement, ...others] = movements
  return movement === undefined || others.length > 0 ? null : formatWord(currencyOf(movement.debit))
}
