import { Type } from '@sinclair/typebox'
import { PathId } from '../../../schema/common.ts'
import { type HashedEvent, readEvent, type Subject } from '../../audit/reports/events/read-event.ts'
import type { App } from '../../features/services.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idInPath } from '../../http/validation/ids.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import type { Movement } from '../../ledger/rules/event.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import type { ConsoleServices } from '../console-services.ts'
import { addressWith } from '../frame/address.ts'
import { type Cell, codeCell, formatWord, textCell, timeCell, wordCell } from '../frame/cells/cells.ts'
import { actorCell, eventPath } from '../frame/cells/links.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { type PartColumn, partTable, type Table } from '../lists/list.ts'
import { movementColumns } from '../lists/movements-table.ts'
import { dataFacts } from './data-facts.ts'
import { eventColumns } from './event-list.ts'
import { type Verdict, verdictOn } from './verdict.ts'

type Facts = readonly (readonly [string, Cell])[]

/** What was hashed: all of it, or the beginning and the address of all. */
interface HashedBytes {
  readonly text: string
  readonly length: number
  readonly address: string | null
}

/** Longer bytes, such as those of a salary file, are read by the browser from an address of their own. */
const MAX_SHOWN_CHARACTERS = 8_000

interface EventPageData {
  readonly position: number
  readonly type: string
  readonly previousPath: string | null
  readonly nextPath: string | null
  readonly facts: Facts
  readonly data: Facts
  readonly movements: Table
  readonly command: Table
  readonly hasMoreOfCommand: boolean
  /** All events of its request. */
  readonly requestPath: string
  readonly subjects: readonly { readonly text: string; readonly href: string }[]
  readonly hash: string
  readonly hashed: HashedBytes
  readonly next: { readonly position: number; readonly hash: string; readonly hashed: HashedBytes } | null
  readonly verdict: Verdict
}

const template = defineTemplate<EventPageData>('/events/event.eta')

const currencyColumn: PartColumn<Movement> = {
  title: 'Currency',
  cell: ({ debit }) => wordCell(currencyOf(debit)),
}

/** Events of one command are of one request. */
const commandColumns = eventColumns.filter(({ name }) => name !== 'request_id')

/** /console/events/{position}: one event, and the proof of it. */
export function eventPage(scope: App, { chooseReportDatabase }: ConsoleServices): void {
  const schema = { params: Type.Object({ position: PathId }) }

  scope.get('/events/:position', { schema }, async (request, reply) => {
    const { db } = await chooseReportDatabase()
    const event = await readEvent(db, idInPath(request.params.position))
    if (event === undefined) throw notFound()
    const { entry, next, command, hasMoreOfCommand, subjects } = event
    const { position, type, movements } = entry
    return sendPage(request, reply, template, {
      title: `Event ${position}`,
      scripts: ['hash'],
      data: {
        position,
        type: formatWord(type),
        previousPath: position > 1 ? eventPath(position - 1) : null,
        nextPath: next === null ? null : eventPath(next.entry.position),
        facts: factsOf(entry),
        data: dataFacts(type, entry.data),
        movements: partTable({
          label: 'Movements',
          empty: 'This event moved nothing.',
          columns: movementColumns.toSpliced(2, 0, currencyColumn),
          rows: movements,
        }),
        command: partTable({
          label: 'Events of the same command',
          empty: '',
          columns: commandColumns,
          rows: command.length > 1 ? command : [],
        }),
        hasMoreOfCommand,
        requestPath: addressWith('/console/events', { request_id: entry.requestId }),
        subjects: subjects.map(subjectLink),
        hash: entry.hash,
        hashed: hashedBytes(event),
        next:
          next === null ? null : { position: next.entry.position, hash: next.entry.hash, hashed: hashedBytes(next) },
        verdict: verdictOn(event),
      },
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

function subjectLink({ kind, id, isNew }: Subject): EventPageData['subjects'][number] {
  const text = `${kind} ${id}${isNew ? ', made by this event' : ''}`
  switch (kind) {
    case 'draw':
      return { text, href: `/console/draws/${id}` }
    case 'game':
      return { text, href: `/console/games/${id}` }
    case 'withdrawal':
      return { text, href: `/console/withdrawals/${id}` }
    case 'proposal':
      return { text, href: `/console/proposals/${id}` }
    default:
      // Cards and transfers have no page: the event that made them says all.
      return { text, href: eventPath(id) }
  }
}
