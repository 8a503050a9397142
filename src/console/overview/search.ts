import { Type } from '@sinclair/typebox'
import { Text } from '../../../schema/common.ts'
import { type HitKind, MAX_HITS, type SearchHit, searchAll } from '../../audit/reports/search.ts'
import { account } from '../../ledger/rules/account.ts'
import type { ConsolePages } from '../console-services.ts'
import { codeCell, textCell, type Words } from '../layout/cells.ts'
import { accountPath, addressWith, eventPath, pagePath } from '../layout/links.ts'
import { sendSections } from '../layout/page.ts'
import { type PartColumn, part, partTable } from '../lists/list.ts'
import { pageEnd, readLedgerEnds } from '../lists/period.ts'

const columns: readonly PartColumn<SearchHit>[] = [
  part('What', (hit) => textCell(`${kindNames[hit.kind]} ${hit.id}`, pageOf(hit))),
  part('Description', ({ label }) => textCell(label)),
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
  staff: 'Actions of',
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
    return sendSections(request, reply, {
      title: 'Search',
      sections: [
        { table: q === '' ? null : table },
        ...moreOf(q, hits).map((hint) => ({ hint })),
        hits.length === 0 ? { title: 'What can be found', list: KINDS } : null,
      ],
    })
  })
}

const KINDS: readonly Words[] = [
  [
    'a user, by number, uid or the beginning of the name: ',
    codeCell('7'),
    ', ',
    codeCell('U7'),
    ', ',
    codeCell('Lina'),
  ],
  'a room, by number, uid or the beginning of the name',
  ['an account: ', codeCell('user:7:coins'), ', or its beginning: ', codeCell('house:')],
  [
    'an event, a withdrawal, a proposal, a game or a draw, by its number: ',
    codeCell('75'),
    ', ',
    codeCell('withdrawal 55'),
  ],
  ['a gift, by the beginning of its name or its number: ', codeCell('Rose'), ', ', codeCell('gift 3')],
  ['a month of the books: ', codeCell('2026-10')],
  ['what a member of staff did: ', codeCell('ann')],
  'a request by its request id, or a command by its idempotency key',
  ['an order of gifts, by its id: ', codeCell('38-0')],
]

/** Kinds of which only the first hits are shown, and where all of them are. */
const moreOf = (q: string, hits: readonly SearchHit[]): readonly Words[] =>
  Array.from(Map.groupBy(hits, ({ kind }) => kind))
    .filter(([, found]) => found.length >= MAX_HITS)
    .map(([kind]): Words => {
      const begin = `There may be more of the kind ${kindNames[kind].toLowerCase()}: `
      const href = listOf(kind, q)
      return href === null ? `${begin}a longer text finds fewer.` : [begin, { href, text: 'all that were found' }, '.']
    })

function listOf(kind: HitKind, q: string): string | null {
  if (kind === 'user') return addressWith('/console/users', { q })
  return kind === 'account' ? addressWith('/console/accounts', { q }) : null
}

function pageOf({ kind, id, position }: SearchHit): string {
  switch (kind) {
    case 'room':
      return accountPath(account('room', id, 'target'))
    case 'request':
      return addressWith('/console/events', { request_id: id })
    case 'key':
      return addressWith('/console/events', { key: id })
    case 'order':
      return eventPath(position ?? 0)
    case 'staff':
      return addressWith('/console/staff', { sub: id })
    default:
      return pagePath(kind, id)
  }
}
