import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Kysely } from 'kysely'
import { Text } from '../../../schema/common.ts'
import { eventTypes } from '../../../schema/events.ts'
import { parseData } from '../../audit/reports/events/parse-data.ts'
import { listStaffActs, type StaffAct } from '../../audit/reports/events/staff-acts.ts'
import type { Tables } from '../../db/tables.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import { account, currencyOf, isSystem } from '../../ledger/rules/account.ts'
import { openRecords } from '../../vault/reads.ts'
import type { Vault } from '../../vault/vault.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  formatWord,
  numberCell,
  textCell,
  timeCell,
  withSuffix,
  wordCell,
} from '../layout/cells.ts'
import { accountPath, addressWith, eventCell, eventPath, type PageKind, pagePath } from '../layout/links.ts'
import { column, type List, type ListRequest, type ListRows, numberColumn } from '../lists/list.ts'
import { periodFilters, readBounds } from '../lists/period.ts'
import {
  type ProposedAction,
  proposedAmountCell,
  proposedCell,
  proposedCurrencyCell,
  readProposedActions,
  signedAmountCell,
} from './proposed-action.ts'

const Filters = Type.Object({ sub: Type.Optional(Text(100)), ...periodFilters })
type Query = Static<typeof Filters>

interface Row extends StaffAct {
  /** The reason or the note: null where there is none, or where it was erased or cannot be read. */
  readonly reasonOrNote: string | null
  readonly fields: Readonly<Record<string, unknown>>
  /** The proposal that the action made or decided; null for other actions. */
  readonly proposal: ProposedAction | null
}

/** What members of staff did, newest first. */
export const actionList = (vault: Vault): List<typeof Filters, Row> => ({
  label: 'Actions of staff',
  filters: Filters,
  needsIndex: ({ sub = '' }) => sub !== '',
  columns: [
    column('at', 'When', ({ entry }) => timeCell(entry.at)),
    column('staff', 'Who', ({ sub }) => textCell(sub, addressWith('/console/staff', { sub }))),
    column('act', 'What', actionCell),
    column('about', 'About', aboutCell),
    numberColumn('amount', 'Amount', (row) => amountOf(row).amount),
    column('currency', 'Currency', (row) => amountOf(row).currency),
    column('reason', 'Reason or note', ({ reasonOrNote }) => textCell(reasonOrNote)),
    column('event', 'Event', ({ entry }) => eventCell(entry.position)),
  ],
  empty: 'No member of staff did anything here. Clear the filters, or choose a longer period.',
  read: (request) => readActions(request, vault),
})

async function readActions({ query, db, at, cursor, limit }: ListRequest<Query>, vault: Vault): Promise<ListRows<Row>> {
  const { sub = '' } = query
  const { first, last } = await readBounds(db, query, at)
  const [before] = cursor === null ? [] : decodeCursor(cursor, 1)
  const { acts: found, next } = await listStaffActs(db, {
    limit,
    upTo: last,
    ...(sub === '' ? {} : { sub }),
    ...(before === undefined ? {} : { before }),
  })
  const within = found.filter(({ entry }) => entry.position >= first)
  const hasMore = next !== null && next > first && within.length === found.length
  return { rows: await withNotes(db, vault, within), next: hasMore ? encodeCursor([next]) : null }
}

/** Notes of withdrawals are in the vault, where they can be erased. */
async function withNotes(db: Kysely<Tables>, vault: Vault, actions: readonly StaffAct[]): Promise<Row[]> {
  const rows = actions.map((action) => ({ ...action, fields: fieldsOf(action) }))
  const sealedNoteOf = (row: (typeof rows)[number]): string | null =>
    row.entry.type === 'withdrawal-status-changed' ? noteOf(row) : null
  const notes = await openRecords(
    db,
    vault,
    rows.map(sealedNoteOf).filter((note) => note !== null),
  )
  const proposals = await readProposedActions(
    db,
    rows.map(proposalIn).filter((id) => id !== null),
  )
  return rows.map((row) => ({
    ...row,
    reasonOrNote:
      row.reason ??
      (row.entry.type === 'proposal-decided' ? noteOf(row) : (notes.get(sealedNoteOf(row) ?? '') ?? null)),
    proposal: proposals.get(proposalIn(row) ?? 0) ?? null,
  }))
}

function noteOf({ fields: { note } }: Pick<Row, 'fields'>): string | null {
  return typeof note === 'string' ? note : null
}

/** The proposal that an action made or decided. */
function proposalIn({ entry: { type, position }, fields }: Pick<Row, 'entry' | 'fields'>): number | null {
  if (type === 'proposal-made') return position
  const id = fields['proposal_id']
  return (type === 'proposal-decided' || type === 'proposal-changed') && typeof id === 'number' ? id : null
}

const fieldsOf = ({ entry }: StaffAct): Readonly<Record<string, unknown>> => ({ ...parseData(entry.data) })

function actionCell(row: Row): Cell {
  const action = textCell(actionOf(row))
  const approval = approvalOf(row)
  if (approval === null) return action
  const sub = approval.approved_by.replace(/^staff:/, '')
  return withSuffix(action, textCell(`approved by ${sub}`, addressWith('/console/staff', { sub })))
}

function actionOf({ entry: { type }, fields: { to, decision } }: Row): string {
  if (type === 'withdrawal-status-changed' && typeof to === 'string') return `withdrawal ${to}`
  if (type === 'proposal-decided' && typeof decision === 'string') return `proposal ${decision}`
  return type === 'approval-limit-used' ? 'counted against the limit for acting alone' : formatWord(type)
}

const Approved = Type.Object({ approval: Type.Object({ proposal_id: Type.Number(), approved_by: Type.String() }) })
const approved = TypeCompiler.Compile(Approved)

/** By whom, and in which proposal, an action was approved; null where one member of staff acted alone. */
const approvalOf = ({ fields }: Row): Static<typeof Approved>['approval'] | null =>
  approved.Check(fields) ? fields.approval : null

type Named = readonly [field: string, word: string, kind: PageKind]

/** What users are given. */
const granted: readonly Named[] = [
  ['decoration_id', 'Gift', 'gift'],
  ['privilege_package_id', 'Package', 'package'],
]

/** What has a page of its own, by the field that names it. */
const subjects: readonly Named[] = [
  ['withdrawal_id', 'Withdrawal', 'withdrawal'],
  ['game_id', 'Game', 'game'],
  ['user_id', 'User', 'user'],
  ...granted,
  ['country_id', 'Country', 'country'],
  ['proposal_id', 'Proposal', 'proposal'],
]

/** The first of them that an action names; null for none. */
function namedIn({ fields }: Pick<Row, 'fields'>, named: readonly Named[]): Cell | null {
  for (const [field, word, kind] of named) {
    const id = fields[field]
    if (typeof id === 'number') return textCell(`${word} ${id}`, pagePath(kind, id))
  }
  return null
}

const proposalCell = (id: number): Cell => textCell(`Proposal ${id}`, pagePath('proposal', id))

function aboutCell(row: Row): Cell {
  const { entry, proposal } = row
  if (proposal !== null) return withSuffix(proposalCell(proposal.id), proposedCell(proposal))
  // The last event of what was done comes before the one that counts it.
  if (entry.type === 'approval-limit-used') {
    return textCell(`Event ${entry.position - 1}`, eventPath(entry.position - 1))
  }
  const subject = withGranted(row, subjectCellOf(row))
  const approval = approvalOf(row)
  return approval === null ? subject : withSuffix(subject, proposalCell(approval.proposal_id))
}

/** With which gift or package a user was given. */
function withGranted(row: Row, user: Cell): Cell {
  const given = typeof row.fields['user_id'] === 'number' ? namedIn(row, granted) : null
  return given === null ? user : withSuffix(user, given)
}

function subjectCellOf(row: Row): Cell {
  const { entry, fields } = row
  const named = namedIn(row, subjects)
  if (named !== null) return named
  const { room_id } = fields
  if (typeof room_id === 'number') return textCell(`Room ${room_id}`, accountPath(account('room', room_id, 'target')))
  const { sub, client_type, month } = fields
  if (typeof sub === 'string') return textCell(`Staff ${sub}`, addressWith('/console/staff', { sub }))
  if (typeof client_type === 'string') return textCell(client_type, pagePath('release', client_type))
  if (typeof month === 'string') return textCell(month, pagePath('month', month))
  const moved = accountIn(entry)
  return moved === null ? textCell(null) : codeCell(moved, accountPath(moved))
}

/** The side of a movement that is not the system's own. */
function accountIn({ movements }: StaffAct['entry']): string | null {
  const [movement] = movements
  if (movement === undefined) return null
  return isSystem(movement.debit) ? movement.credit : movement.debit
}

const limitUse = TypeCompiler.Compile(eventTypes['approval-limit-used'].data)

/** What an action is about, negative where the system takes it, and its currency; nothing where it moves several amounts. */
function amountOf({ entry, fields, proposal }: Row): { readonly amount: Cell; readonly currency: Cell } {
  if (proposal !== null) return { amount: signedAmountCell(proposal), currency: proposedCurrencyCell(proposal) }
  if (entry.type === 'approval-limit-used' && limitUse.Check(fields)) {
    return { amount: proposedAmountCell(fields), currency: proposedCurrencyCell(fields) }
  }
  if (entry.type === 'card-granted') return { amount: numberCell(1), currency: wordCell('cards') }
  if (entry.type === 'bag-items-added') {
    const { quantity } = fields
    return { amount: numberCell(typeof quantity === 'number' ? quantity : null), currency: wordCell('bag') }
  }
  const [movement, ...others] = entry.movements
  if (movement === undefined || others.length > 0) return { amount: textCell(null), currency: textCell(null) }
  const { debit, credit, amount } = movement
  const currency = currencyOf(debit)
  const signed = isSystem(credit) && !isSystem(debit) ? -amount : amount
  return { amount: amountCell(currency, signed), currency: wordCell(currency) }
}
