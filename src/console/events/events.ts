import type { Static } from '@sinclair/typebox'
import { eventTypes } from '../../../schema/events.ts'
import type { ConsolePages } from '../console-services.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { addExports } from '../lists/exports.ts'
import { querySchemaOf, readTable, type Table } from '../lists/list.ts'
import { eventList } from './event-list.ts'
import { eventPage } from './event-page.ts'

interface EventsData {
  readonly query: Static<typeof eventList.filters>
  readonly types: readonly string[]
  readonly table: Table
}

const template = defineTemplate<EventsData>('/events/events.eta')

const types = Object.keys(eventTypes).toSorted()

/** /console/events: the ledger, event by event, each with the proof that it is as it was written. */
export const eventPages: ConsolePages = (scope, services) => {
  const schema = { querystring: querySchemaOf(eventList) }
  scope.get('/events', { schema }, async (request, reply) => {
    const { table } = await readTable(eventList, request, services, '/console/events')
    return sendPage(request, reply, template, { title: 'Events', data: { query: request.query, types, table } })
  })
  addExports(scope, '/events', eventList, services)
  eventPage(scope, services)
}
