import type { Kysely } from 'kysely'
import type { Language } from '../../../schema/languages.ts'
import type { InboxNotification } from '../../../schema/notifications.ts'
import { BatchedLookup, requestLimits } from '../../db/queries/batched-lookup.ts'
import { microsOf } from '../../db/queries/expressions.ts'
import { listOf, PreparedStatement } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import { type EventRow, eventColumns, parseEntry, parseStoredEvent } from '../../ledger/storage/stored-event.ts'
import { type EventNotification, type Names, renderNotification } from '../../notifications/event-notification.ts'

type Db = Kysely<Tables>

/** A page of a user's notifications: those before a position (null: from the newest), newest first. */
interface RequestedPage {
  readonly userId: number
  readonly limit: number
  readonly before: number | null
}

/** An event of which a user was notified, and when the user read it. */
interface InboxEntry {
  readonly event: StoredEvent
  readonly read_at: number | null
}

interface InboxPage {
  readonly entries: readonly InboxEntry[]
  /** How many of all the user's notifications are unread. */
  readonly unread: number
}

/** A user without notifications on the page has one row, without an event. */
interface InboxRow extends EventRow {
  readonly place: number
  readonly unread: number
  readonly read_at: number | null
}

/** `$1`: users, `$2`: sizes of their pages, `$3`: the positions before which they begin. */
const inboxPages = new PreparedStatement<InboxRow>(
  'notifications of users',
  `select requested.place, coalesce(c.notifications, 0) - coalesce(m.number, 0) as unread, r.read_at, ${eventColumns}
   from unnest(${listOf('$1', 'bigint')}, ${listOf('$2', 'bigint')}, ${listOf('$3', 'bigint')})
     with ordinality as requested (user_id, size, before, place)
   left join notification_counts c on c.user_id = requested.user_id
   left join notification_marks m on m.user_id = requested.user_id
   left join lateral (
     select n.position from notifications n
     where n.user_id = requested.user_id and n.position < requested.before
     order by n.position desc
     limit requested.size) n on true
   left join lateral (
     select ${microsOf('mark.at')} as read_at from notification_reads mark
     where mark.user_id = requested.user_id and mark.up_to >= n.position
     order by mark.up_to
     limit 1) r on true
   -- By offset 0, each event is read by its position: the planner cannot see how few there are.
   left join lateral (select * from ledger_events event where event.position = n.position offset 0) e on true
   order by n.position desc nulls last`,
)

/** Pages read with one query. Limited because each may have hundreds of rows. */
const MAX_PAGES_PER_QUERY = 32

/** Pages of users' inboxes, those requested at the same time with one query. */
export function inboxLookup(db: Db): (page: RequestedPage) => Promise<InboxPage> {
  const pages = new BatchedLookup(
    MAX_PAGES_PER_QUERY,
    async (requested: readonly RequestedPage[]) => {
      const rows = await inboxPages.execute(db, [
        requested.map(({ userId }) => userId),
        requested.map(({ limit }) => limit),
        requested.map(({ before }) => before ?? Number.MAX_SAFE_INTEGER),
      ])
      const byPlace = Map.groupBy(rows, ({ place }) => place)
      return requested.map((_page, i) => byPlace.get(i + 1) ?? [])
    },
    requestLimits(db),
  )
  return async (page) => {
    const rows = await pages.load(page)
    return { entries: rows.flatMap(toInboxEntry), unread: rows[0]?.unread ?? 0 }
  }
}

function toInboxEntry({ place: _place, unread: _unread, read_at, ...event }: InboxRow): InboxEntry[] {
  return event.position === null ? [] : [{ event: parseStoredEvent(parseEntry(event)), read_at }]
}

/** The user's last notification up to a position, with its number; undefined when there is none. */
export const lastNotification = (db: Db, userId: number, upTo: number) =>
  db
    .selectFrom('notifications')
    .select(['position', 'number'])
    .where('user_id', '=', userId)
    .where('position', '<=', upTo)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()

/** A notification of an inbox as clients get it. */
export const inboxNotification = (
  { event, read_at }: InboxEntry,
  notification: EventNotification,
  names: Names,
  language: Language,
): InboxNotification => ({
  id: event.position,
  ...renderNotification(notification, names, language),
  created_at: isoMicros(event.at),
  read_at: read_at === null ? null : isoMicros(read_at),
})
