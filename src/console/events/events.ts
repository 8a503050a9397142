import { Type } from '@sinclair/typebox'
import { ACCOUNT_PATTERN, PathId, Text } from '../../../schema/common.ts'
import { eventTypes } from '../../../schema/events.ts'
import { type EventDetails, type HashedEvent, readEvent, type Subject } from '../../audit/reports/events/read-event.ts'
import { searchEvents } from '../../audit/reports/events/search-events.ts'
import { parseInteger } from '../../audit/routes/requests.ts'
import type { App } from '../../features/services.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { currencyOf, type Movement } from '../../ledger/rules/account.ts'
import { sha256 } from '../../ledger/rules/hash.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import type { ConsolePages, ConsoleServices } from '../console-services.ts'
import {
  type Cell,
  codeCell,
  type Facts,
  formatUnits,
  formatWord,
  type Link,
  textCell,
  timeCell,
  wordCell,
} from '../layout/cells.ts'
import { actorCell, addressWith, eventCell, eventPath, pagePath } from '../layout/links.ts'
import { type Section, sendSections } from '../layout/page.ts'
import {
  type Column,
  choiceFilter,
  column,
  type List,
  type PartColumn,
  part,
  partTable,
  type Table,
  textFilter,
} from '../lists/list.ts'
import { addListPage } from '../lists/list-page.ts'
import { periodFilters, readBounds } from '../lists/period.ts'
import { dataFacts } from './data-facts.ts'
import { movementColumns } from './stored-events.ts'

const types = Object.keys(eventTypes).toSorted()

/** /console/events: the ledger, event by event, each with the proof that it is as it was written. */
export const eventPages: ConsolePages = (scope, services) => {
  addListPage(scope, services, {
    path: '/events',
    lead: 'Everything that ever happened, newest first. Each event leads to its movements, its cause and its hash.',
    list: eventList,
    filters: [
      choiceFilter('type', 'Type', [['', 'All'], ...types.map((type) => [type, formatWord(type)] as const)]),
      textFilter('actor', 'Actor', 200, 'user:7, staff:ann, system'),
      { name: 'user', label: 'User, by number', isNumber: true, maxLength: 16 },
      textFilter('account', 'Account', 100, 'user:7:coins'),
      textFilter('request_id', 'Request', 255),
      textFilter('key', 'Idempotency key', 255),
      textFilter('from', 'From', 40, '2026-11-21'),
      textFilter('to', 'To', 40),
    ],
    before: [{ hint: 'From and to: a position (34), a day (2026-11-21) or a time in UTC (2026-11-21T08:00:00Z).' }],
  })
  eventPage(scope, services)
}

/** Events that are searched for a page, a few milliseconds of work: what is rare is looked for on the next pages, too. */
const MAX_SEARCHED_EVENTS = 4_000

const filters = Type.Object({
  type: Type.Optional(Type.String({ pattern: '^[a-z-]{1,64}$' })),
  actor: Type.Optional(Text(200)),
  user: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,15}$' })),
  account: Type.Optional(Type.String({ pattern: ACCOUNT_PATTERN })),
  request_id: Type.Optional(Text(255)),
  key: Type.Optional(Text(255)),
  ...periodFilters,
})

const eventColumns: readonly Column<LedgerEntry>[] = [
  column('position', 'Event', ({ position }) => eventCell(position)),
  column('at', 'Time', ({ at }) => timeCell(at)),
  column('type', 'Type', ({ type }) => wordCell(type)),
  column('actor', 'Actor', ({ actor }) => actorCell(actor)),
  column('movements', 'Movements', ({ movements }) => textCell(movementsText(movements))),
  column('request_id', 'Request', ({ requestId }) => requestCell(requestId)),
]

const eventList: List<typeof filters, LedgerEntry> = {
  label: 'Events',
  filters,
  needsIndex: ({ type, actor, user, account, request_id, key }) =>
    [type, actor, user, account, request_id, key].some((filter) => filter !== undefined),
  empty: 'No event matches. Take away a filter, or choose another time.',
  columns: eventColumns,
  read: async ({ query, db, at, cursor, limit }) => {
    const { type, actor, user, account, request_id, key } = query
    const { first, last } = await readBounds(db, query, at)
    const [before] = cursor === null ? [] : decodeCursor(cursor, 1)
    const { events, next } = await searchEvents(db, {
      type,
      actor,
      user: user === undefined ? undefined : parseInteger('user', user),
      account,
      requestId: request_id,
      idempotencyKey: key,
      first,
      last,
      upTo: at,
      before,
      limit,
      maxSearched: MAX_SEARCHED_EVENTS,
    })
    return { rows: events, next: next === null ? null : encodeCursor([next]) }
  },
}

const SHOWN_CHARACTERS = 8

/** The beginning of a request's id, which tells requests apart and leaves room for the rest; it leads to all its events. */
const requestCell = (id: string): Cell => ({
  ...codeCell(
    id.length > SHOWN_CHARACTERS + 4 ? `${id.slice(0, SHOWN_CHARACTERS)}…` : id,
    addressWith('/console/events', { request_id: id }),
  ),
  value: id,
})

/** `50 diamonds from user:7 to house:gifts, and 3 more` */
function movementsText([first, ...others]: readonly Movement[]): string {
  if (first === undefined) return ''
  const { debit, credit, amount } = first
  const currency = currencyOf(debit)
  const text = `${formatUnits(currency, amount)} ${formatWord(currency)} from ${holderOf(debit)} to ${holderOf(credit)}`
  return others.length === 0 ? text : `${text}, and ${others.length} more`
}

const holderOf = (account: string): string => account.slice(0, account.lastIndexOf(':'))

/** What was hashed: all of it, or the beginning and the address of all. */
interface HashedBytes {
  readonly text: string
  readonly length: number
  readonly address: string | null
}

/** Longer bytes, such as those of a salary file, are read by the browser from an address of their own. */
const MAX_SHOWN_CHARACTERS = 8_000

const currencyColumn: PartColumn<Movement> = part('Currency', ({ debit }) => wordCell(currencyOf(debit)))

/** Events of one command are of one request. */
const commandColumns = eventColumns.filter(({ name }) => name !== 'request_id')

/** /console/events/{position}: one event, and the proof of it. */
function eventPage(scope: App, { chooseReportDatabase }: ConsoleServices): void {
  const schema = { params: Type.Object({ position: PathId }) }

  scope.get('/events/:position', { schema }, async (request, reply) => {
    const { db } = await chooseReportDatabase()
    const event = await readEvent(db, idInPath(request.params.position))
    if (event === undefined) throw notFound()
    const { entry, next, subjects } = event
    const { position, type, movements } = entry
    const data = dataFacts(type, entry.data)
    const nextHashed = next && {
      position: next.entry.position,
      hash: next.entry.hash,
      hashed: hashedBytes(next),
    }
    return sendSections(request, reply, {
      title: `Event ${position}`,
      heading: `Event ${position}: ${formatWord(type)}`,
      scripts: ['hash'],
      sections: [
        { part: { template: '/events/around.eta', data: { position, hasNext: next !== null } } },
        { facts: factsOf(entry) },
        subjects.length === 0 ? null : { title: 'Belongs to', list: subjects.map((subject) => [subjectLink(subject)]) },
        { title: 'Movements', table: movementsOf(movements) },
        data.length === 0 ? null : { title: 'Data', facts: data },
        { title: 'Same command', ...sameCommand(event) },
        {
          title: 'Hash',
          hint: 'SHA-256 of the bytes below, whose first line is the hash of the event before. Who changes any event changes every hash after it.',
          part: {
            template: '/events/hash.eta',
            data: {
              position,
              hash: entry.hash,
              hashed: hashedBytes(event),
              next: nextHashed,
              verdict: verdictOn(event),
            },
          },
        },
      ],
    })
  })

  scope.get('/events/:position/hashed.txt', { schema }, async (request, reply) => {
    const { db } = await chooseReportDatabase()
    const position = idInPath(request.params.position)
    const event = await readEvent(db, position)
    if (event === undefined) throw notFound()
    return reply
      .header('content-disposition', `attachment; filename="event-${position}.txt"`)
      .type('text/plain; charset=utf-8')
      .send(event.hashedText)
  })
}

const movementsOf = (movements: readonly Movement[]): Table =>
  partTable({
    label: 'Movements',
    empty: 'This event moved nothing.',
    columns: movementColumns.toSpliced(2, 0, currencyColumn),
    rows: movements,
  })

/** What the command of an event wrote besides it. */
function sameCommand({ entry, command, hasMoreOfCommand }: EventDetails): Section {
  if (command.length <= 1) return { hint: 'The command wrote only this event.' }
  const written = 'These events were written together, for one request: all of them or none.'
  const all = {
    href: addressWith('/console/events', { request_id: entry.requestId }),
    text: 'all events of this request',
  }
  return {
    hint: hasMoreOfCommand ? [`${written} There are more: `, all, '.'] : written,
    table: partTable({ label: 'Events of the same command', empty: '', columns: commandColumns, rows: command }),
  }
}

const hashedBytes = ({ entry: { position }, hashedText: text }: HashedEvent): HashedBytes =>
  text.length <= MAX_SHOWN_CHARACTERS
    ? { text, length: text.length, address: null }
    : { text: text.slice(0, MAX_SHOWN_CHARACTERS), length: text.length, address: `${eventPath(position)}/hashed.txt` }

const factsOf = (entry: LedgerEntry): Facts => [
  ['Type', wordCell(entry.type, addressWith('/console/events', { type: entry.type }))],
  ['Version', textCell(String(entry.version))],
  ['Time', timeCell(entry.at)],
  ['Actor', actorCell(entry.actor)],
  ['Request', codeCell(entry.requestId, addressWith('/console/events', { request_id: entry.requestId }))],
  [
    'Idempotency key',
    entry.idempotencyKey === null
      ? textCell(null)
      : codeCell(entry.idempotencyKey, addressWith('/console/events', { key: entry.idempotencyKey })),
  ],
  ['Hash of the reply', entry.replyHash === null ? textCell(null) : codeCell(entry.replyHash)],
]

function subjectLink({ kind, id, isNew }: Subject): Link {
  const text = `${kind} ${id}${isNew ? ', made by this event' : ''}`
  // Cards and transfers have no page: the event that made them says all.
  const hasPage = kind === 'draw' || kind === 'game' || kind === 'withdrawal' || kind === 'proposal'
  return { text, href: pagePath(hasPage ? kind : 'event', id) }
}

interface Verdict {
  readonly isValid: boolean
  readonly text: string
}

/** What the service finds when it hashes an event, and the one after it, again. `assets/hash.js` says the same. */
function verdictOn({ entry, hashedText, next }: EventDetails): Verdict {
  const { position, hash } = entry
  if (sha256(hashedText) !== hash) {
    return { isValid: false, text: `Not valid: event ${position} is not what its hash was taken of.` }
  }
  if (next === null) {
    return { isValid: true, text: 'Valid: the hash is that of the bytes below. No event follows yet.' }
  }
  const after = next.entry.position
  return sha256(next.hashedText) === next.entry.hash
    ? { isValid: true, text: `Valid: the hash is that of the bytes below, and event ${after} was hashed with it.` }
    : {
        isValid: false,
        text: `Not valid: the hash is that of the bytes below, but event ${after} was not hashed with it.`,
      }
}
