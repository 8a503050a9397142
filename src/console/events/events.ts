import { eventTypes } from '../../../schema/events.ts'
import type { ConsolePages } from '../console-services.ts'
import { formatWord } from '../frame/cells.ts'
import { choiceFilter, textFilter } from '../lists/filters.ts'
import { addListPage } from '../lists/list-page.ts'
import { eventList } from './event-list.ts'
import { eventPage } from './event-page.ts'

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
