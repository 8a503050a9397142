import { Type } from '@sinclair/typebox'
import { Text } from '../../../schema/common.ts'
import { type HitKind, MAX_HITS, type SearchHit, searchAll } from '../../audit/reports/search.ts'
import { account } from '../../ledger/rules/account.ts'
import type { ConsolePages } from '../console-services.ts'
import { addressWith } from '../frame/address.ts'
import { textCell } from '../frame/cells/cells.ts'
import { accountPath, eventPath } from '../frame/cells/links.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { type PartColumn, partTable, type Table } from '../lists/list.ts'
import { pageEnd, readLedgerEnds } from '../lists/page-end.ts'
import { monthPath } from '../reports/months.ts'

interface SearchData {
  readonly q: string
  readonly hits: Table
  /** Of kinds of which there may be more: where all of them are; null where no page has them. */
  readonly more: readonly { readonly kind: string; readonly href: string | null }[]
}

const template = defineTemplate<SearchData>('/search/search.eta')

const columns: readonly PartColumn<SearchHit>[] = [
  { title: 'What', cell: (hit) => textCell(`${kindNames[hit.kind]} ${hit.id}`, pageOf(hit)) },
  { title: 'Description', cell: ({ label }) => textCell(label) },
]

const kindNames: Readonly<Record<HitKind, string>> = {
  user: 'User',
  room: 'Room',
  account: 'Account',
  event: 'Event',
  request: 'Request',
  key: 'Idempotency key',
  order: 'Order',
  game: 'Game',
  withdrawal: 'Withdrawal',
  proposal: 'Proposal',
  draw: 'Draw',
  gift: 'Gift',
  month: 'Month',
  staff: 'Acts of',
}

/** /console/search: what a text stands for. A text that stands for one thing leads to its page. */
export const searchPages: ConsolePages = (scope, { chooseReportDatabase }) => {
  const schema = { querystring: Type.Object({ q: Type.Optional(Text(255)) }) }
  scope.get('/search', { schema }, async (request, reply) => {
    const q = (request.query.q ?? '').trim()
    const { db } = await chooseReportDatabase()
    const ends = await readLedgerEnds(db)
    const { at, note } = pageEnd(ends, undefined, true)
    const hits = await searchAll(db, q, { head: ends.head, searched: at })
    const [only, ...others] = hits
    if (only !== undefined && others.length === 0) return reply.redirect(pageOf(only), 303)
    const empty = `Nothing was found for “${q}”.`
    const table = partTable({ label: 'What was found', empty, note, columns, rows: hits })
    return sendPage(request, reply, template, { title: 'Search', data: { q, hits: table, more: moreOf(q, hits) } })
  })
}

/** Kinds of which only the first hits are shown. */
const moreOf = (q: string, hits: readonly SearchHit[]): SearchData['more'] =>
  Array.from(Map.groupBy(hits, ({ kind }) => kind))
    .filter(([, found]) => found.length >= MAX_HITS)
    .map(([kind]) => ({ kind: kindNames[kind].toLowerCase(), href: listOf(kind, q) }))

function listOf(kind: HitKind, q: string): string | null {
  if (kind === 'user') return addressWith('/console/users', { q })
  return kind === 'account' ? addressWith('/console/accounts', { q }) : null
}

function pageOf({ kind, id, position }: SearchHit): string {
  switch (kind) {
    case 'user':
      return `/console/users/${id}`
    case 'room':
      return accountPath(account('room', id, 'target'))
    case 'account':
      return accountPath(id)
    case 'event':
      return eventPath(Number(id))
    case 'request':
      return addressWith('/console/events', { request_id: id })
    case 'key':
      return addressWith('/console/events', { key: id })
    case 'order':
      return eventPath(position ?? 0)
    case 'game':
      return `/console/games/${id}`
    case 'withdrawal':
      return `/console/withdrawals/${id}`
    case 'proposal':
      return `/console/proposals/${id}`
    case 'draw':
      return `/console/draws/${id}`
    case 'gift':
      return `/console/catalogue/gifts/${id}`
    case 'month':
      return monthPath(id)
    case 'staff':
      return addressWith('/console/staff', { sub: id })
  }
}
