import { Type } from '@sinclair/typebox'
import { Text } from '../../../schema/common.ts'
import { eventTypes } from '../../../schema/events.ts'
import { type EventFilter, searchEvents } from '../../audit/reports/events/search-events.ts'
import { headOf } from '../../db/head.ts'
import { readInstances } from '../../db/queries/instances.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import { parseId } from '../../ledger/rules/parse-id.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import type { ConsolePages, ConsoleServices } from '../console-services.ts'
import { addressWith, type QueryValues } from '../frame/address.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  formatAge,
  numberCell,
  statusCell,
  textCell,
  timeCell,
  wordCell,
} from '../frame/cells/cells.ts'
import { format } from '../frame/cells/format.ts'
import { accountCell, actorCell, eventPath } from '../frame/cells/links.ts'
import { sendPage, sendPart } from '../frame/send-page.ts'
import { defineTemplate, templates } from '../frame/template.ts'
import type { Table } from '../lists/list.ts'
import { playgroundPages } from './playground/playground.ts'
import { readNewerEvents } from './read-newer-events.ts'

const PATH = '/console/live'
/** Events that the page begins with. */
const PAGE_EVENTS = 50
/** Movements of an event that are shown; the event's own page has all. */
const MAX_MOVEMENTS = 3
/** Channels with the most sockets that are listed. */
const MAX_CHANNELS = 20

// Without control characters, which PostgreSQL does not take in a text.
const Word = (maxLength: number) => Type.Optional(Type.String({ maxLength, pattern: '^[\\x20-\\x7e]*$' }))
const filterFields = {
  type: Word(60),
  actor: Type.Optional(Text(120)),
  account: Word(120),
  user: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$' })),
}
const Position = Type.String({ pattern: '^[0-9]{1,15}$' })
const LiveQuery = Type.Object({ ...filterFields, after: Type.Optional(Position) })
const EventsQuery = Type.Object({
  ...filterFields,
  after: Position,
  /** `count`: the events are only counted. */
  only: Type.Optional(Type.Literal('count')),
})

interface Filters {
  readonly type?: string
  readonly actor?: string
  readonly account?: string
  readonly user?: string
}

interface ShownEvent {
  readonly position: Cell
  readonly at: Cell
  readonly type: Cell
  readonly actor: Cell
  readonly movements: readonly { readonly amount: Cell; readonly debit: Cell; readonly credit: Cell }[]
  /** Movements that are not shown. */
  readonly more: number
}

interface Sockets {
  /** Null: this instance serves none. */
  readonly facts: readonly (readonly [string, Cell])[] | null
  readonly channels: Table
  readonly instances: Table
}

interface LivePage extends Filters {
  readonly events: readonly ShownEvent[]
  readonly types: readonly string[]
  readonly isFiltered: boolean
  readonly position: number
  readonly ledger: string
  readonly newerHref: string
  readonly newestHref: string
  readonly pollHref: string
  readonly isNewest: boolean
  readonly behind: number
  readonly sockets: Sockets
  readonly hasPlayground: boolean
}

const template = defineTemplate<LivePage>('/live/live.eta')
const rowsTemplate = defineTemplate<{ events: readonly ShownEvent[] }>('/live/rows.eta')
const socketsTemplate = defineTemplate<{ sockets: Sockets }>('/live/sockets.eta')

/** /console/live: events as they are committed, and who listens to what. */
export const livePages: ConsolePages = (scope, services) => {
  const ledger = (): string => services.applied.incarnation.name ?? ''

  scope.get('/live', { schema: { querystring: LiveQuery } }, async (request, reply) => {
    const { after, ...query } = request.query
    const filters = filtersIn(query)
    const { db } = services
    const { events, position, head } =
      after === undefined
        ? await newestEvents(db, filterOf(filters))
        : await readNewerEvents(db, filterOf(filters), Number(after))
    return sendPage(request, reply, template, {
      title: 'Live',
      scripts: ['htmx', 'live'],
      data: {
        ...filters,
        events: events.map(shownEvent),
        types: Object.keys(eventTypes),
        isFiltered: Object.keys(filters).length > 0,
        position,
        ledger: ledger(),
        newerHref: addressWith(PATH, { ...filters, after: position }),
        newestHref: addressWith(PATH, filters),
        pollHref: addressWith(`${PATH}/events`, filters),
        isNewest: after === undefined,
        behind: Math.max(0, head - position),
        sockets: await socketsNow(services),
        hasPlayground: services.signUserToken !== null,
      },
    })
  })

  scope.get('/live/events', { schema: { querystring: EventsQuery } }, async (request, reply) => {
    const { after, only, ...query } = request.query
    const found = await readNewerEvents(services.db, filterOf(filtersIn(query)), Number(after))
    const { events, position, head } = found
    const rows =
      only === 'count' || events.length === 0
        ? ''
        : await templates.renderAsync(rowsTemplate.path, { events: events.map(shownEvent), format })
    const answer = { ledger: ledger(), position, head, count: events.length, rows }
    return reply.type('application/json; charset=utf-8').send(answer)
  })

  scope.get('/live/sockets', (request, reply) =>
    sendPart(request, reply, socketsTemplate, {
      page: PATH,
      read: async () => ({ sockets: await socketsNow(services) }),
    }),
  )

  playgroundPages(scope, services)
}

type Database = Parameters<typeof readNewerEvents>[0]

async function newestEvents(db: Database, filter: EventFilter) {
  // Before the events: what comes meanwhile is for the next look.
  const head = await headOf(db)
  const { events } = await searchEvents(db, { ...filter, upTo: head, limit: PAGE_EVENTS })
  return { events, position: head, head }
}

/** Without what is empty or blank, so that it filters nothing. */
function filtersIn({ type, actor, account, user }: Filters): Filters & QueryValues {
  const filters = { type: type?.trim(), actor: actor?.trim(), account: account?.trim(), user }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined && value !== ''))
}

const filterOf = ({ type, actor, account, user }: Filters): EventFilter => ({
  type,
  actor,
  account,
  user: user === undefined ? undefined : (parseId(user) ?? undefined),
})

function shownEvent({ position, at, type, actor, movements }: LedgerEntry): ShownEvent {
  return {
    position: numberCell(position, eventPath(position)),
    at: timeCell(at),
    type: wordCell(type),
    actor: actorCell(actor),
    movements: movements.slice(0, MAX_MOVEMENTS).map(({ debit, credit, amount }) => ({
      amount: amountCell(currencyOf(debit), amount),
      debit: accountCell(debit),
      credit: accountCell(credit),
    })),
    more: Math.max(0, movements.length - MAX_MOVEMENTS),
  }
}

async function socketsNow({ sockets, db }: ConsoleServices): Promise<Sockets> {
  const instances = await readInstances(db)
  const counts = { everybody: 0, users: 0, rooms: 0 }
  const busiest: (readonly [string, number])[] = []
  for (const [channel, listeners] of sockets?.listenerCounts() ?? []) {
    if (channel === 'global') counts.everybody += listeners
    else if (channel.startsWith('user:')) counts.users += listeners
    else counts.rooms += listeners
    // Few of some ten thousand channels: sorting them all would hold up requests.
    if (busiest.length === MAX_CHANNELS && listeners <= (busiest.at(-1)?.[1] ?? 0)) continue
    busiest.push([channel, listeners])
    busiest.sort(([, a], [, b]) => b - a)
    busiest.splice(MAX_CHANNELS)
  }
  const now = sockets?.sockets
  return {
    facts:
      now === undefined
        ? null
        : [
            ['Signed in', numberCell(now.authenticated)],
            ['Not signed in yet', numberCell(now.unauthenticated)],
            ['Closing', numberCell(now.closing)],
            ['Listening to everybody’s channel', numberCell(counts.everybody)],
            ['Listening to channels of users', numberCell(counts.users)],
            ['Listening to rooms', numberCell(counts.rooms)],
          ],
    channels: {
      label: 'Channels of this instance with the most sockets',
      empty: 'No socket listens to a channel of this instance.',
      columns: [
        { title: 'Channel', isNumber: false },
        { title: 'Sockets', isNumber: true },
      ],
      rows: busiest.map(([channel, listeners]) => [channelCell(channel), numberCell(listeners)]),
    },
    instances: {
      label: 'Sockets of all instances',
      empty: 'No instance has said that it runs.',
      columns: [
        { title: 'Instance', isNumber: false },
        { title: 'Role', isNumber: false },
        { title: 'Sockets', isNumber: true },
        { title: 'Events behind', isNumber: true },
        { title: 'Last seen', isNumber: false },
      ],
      rows: instances.map(({ host, pid, role, sockets: open, lag, silent_seconds }) => [
        codeCell(`${host}:${pid}`),
        statusCell(role),
        numberCell(open),
        numberCell(lag),
        textCell(`${formatAge(silent_seconds * 1_000)} ago`),
      ]),
    },
  }
}

const channelCell = (channel: string): Cell =>
  channel.startsWith('user:') ? codeCell(channel, `/console/users/${channel.slice('user:'.length)}`) : codeCell(channel)
