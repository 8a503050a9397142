import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { Text } from '../../../schema/common.ts'
import { eventTypes } from '../../../schema/events.ts'
import { type EventFilter, searchEvents } from '../../audit/reports/events/search-events.ts'
import { headOf } from '../../db/head.ts'
import { type Instance, readInstances } from '../../db/queries/instances.ts'
import type { Tables } from '../../db/tables.ts'
import type { App } from '../../features/services.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import { fieldMessages } from '../../language/messages.ts'
import { currencyOf, parseId } from '../../ledger/rules/account.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import type { ConsolePages, ConsoleServices } from '../console-services.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  type Facts,
  formatAge,
  numberCell,
  statusCell,
  textCell,
  timeCell,
  wordCell,
} from '../layout/cells.ts'
import { accountCell, actorCell, addressWith, eventPath, type QueryValues } from '../layout/links.ts'
import { sendPage, sendPart } from '../layout/send-page.ts'
import { defineTemplate, format, templates } from '../layout/templates.ts'
import { numberPart, part, partTable, type Table } from '../lists/list.ts'
import { requireOperator } from '../session/session-check.ts'

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
  readonly facts: Facts | null
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

const template = defineTemplate<LivePage>('/overview/live.eta')
const rowsTemplate = defineTemplate<{ events: readonly ShownEvent[] }>('/overview/live-rows.eta')
const socketsTemplate = defineTemplate<{ sockets: Sockets }>('/overview/live-sockets.eta')

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
    channels: partTable<readonly [string, number]>({
      label: 'Channels of this instance with the most sockets',
      empty: 'No socket listens to a channel of this instance.',
      columns: [
        part('Channel', ([channel]) => channelCell(channel)),
        numberPart('Sockets', ([, listeners]) => numberCell(listeners)),
      ],
      rows: busiest,
    }),
    instances: partTable<Instance>({
      label: 'Sockets of all instances',
      empty: 'No instance has said that it runs.',
      columns: [
        part('Instance', ({ host, pid }) => codeCell(`${host}:${pid}`)),
        part('Role', ({ role }) => statusCell(role)),
        numberPart('Sockets', ({ sockets: open }) => numberCell(open)),
        numberPart('Events behind', ({ lag }) => numberCell(lag)),
        part('Last seen', ({ silent_seconds }) => textCell(`${formatAge(silent_seconds * 1_000)} ago`)),
      ],
      rows: instances,
    }),
  }
}

const channelCell = (channel: string): Cell =>
  channel.startsWith('user:') ? codeCell(channel, `/console/users/${channel.slice('user:'.length)}`) : codeCell(channel)

/** Positions that are looked at together, and how often at most until something is found. */
const WINDOW = 200
const MAX_WINDOWS = 20

interface NewerEvents {
  /** Newest first: all events of the filter after the position asked for, up to `position`. */
  readonly events: readonly LedgerEntry[]
  /** Where to continue. */
  readonly position: number
  /** The end of the ledger. */
  readonly head: number
}

/**
 * Events after a position, without a hole: a reader who continues at `position` sees each event once. Its work is limited, so
 * it may end before the end of the ledger, with or without an event found.
 */
async function readNewerEvents(db: Kysely<Tables>, filter: EventFilter, after: number): Promise<NewerEvents> {
  const head = await headOf(db)
  // A position beyond the end would be reached by events that nobody is shown.
  let position = Math.min(after, head)
  for (let windows = 0; windows < MAX_WINDOWS && position < head; windows += 1) {
    const last = Math.min(head, position + WINDOW)
    const search = { ...filter, first: position + 1, last, upTo: head, limit: WINDOW }
    const { events } = await searchEvents(db, search)
    position = last
    if (events.length > 0) return { events, position, head }
  }
  return { events: [], position, head }
}

const playgroundTemplate = defineTemplate<object>('/overview/playground.eta')

const TokenForm = Type.Object({
  _csrf: Type.Optional(Type.String({ maxLength: 300 })),
  user_id: Type.String({ maxLength: 20 }),
})

/**
 * /console/live/playground: one signs in as a user and sees the frames of a socket. Only where this service makes tokens
 * for development; elsewhere there is no such page.
 */
function playgroundPages(scope: App, { signUserToken }: Pick<ConsoleServices, 'signUserToken'>): void {
  if (signUserToken === null) return

  scope.get('/live/playground', (request, reply) => {
    requireOperator(request)
    return sendPage(request, reply, playgroundTemplate, {
      title: 'Socket playground',
      data: {},
      scripts: ['playground'],
    })
  })

  scope.post('/live/playground/token', { schema: { body: TokenForm } }, async (request, reply) => {
    const userId = parseId(request.body.user_id)
    if (userId === null) throw validationFailed({ user_id: [fieldMessages.unknown_user] })
    return reply.type('application/json; charset=utf-8').send({ token: signUserToken(userId) })
  })
}
