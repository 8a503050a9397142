import { Type } from '@sinclair/typebox'
import { PathId } from '../../../schema/common.ts'
import { type EventDetails, type HashedEvent, readEvent, type Subject } from '../../audit/reports/events/read-event.ts'
import type { App } from '../../features/services.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idInPath } from '../../http/validation/ids.ts'
import type { Movement } from '../../ledger/rules/account.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import { sha256 } from '../../ledger/rules/hash.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import type { ConsoleServices } from '../console-services.ts'
import { addressWith } from '../frame/address.ts'
import { codeCell, type Facts, formatWord, type Link, textCell, timeCell, wordCell } from '../frame/cells.ts'
import { actorCell, eventPath, pagePath } from '../frame/links.ts'
import { type Section, sendSections } from '../frame/page.ts'
import { type PartColumn, part, partTable, type Table } from '../lists/list.ts'
import { movementColumns } from '../lists/movements-table.ts'
import { dataFacts } from './data-facts.ts'
import { eventColumns } from './event-list.ts'

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
export function eventPage(scope: App, { chooseReportDatabase }: ConsoleServices): void {
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
