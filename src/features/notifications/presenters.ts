import type { Language } from '../../../schema/languages.ts'
import type { InboxNotification } from '../../../schema/notifications.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { type EventNotification, type Names, renderNotification } from '../../notifications/event-notification.ts'
import type { InboxEntry } from './reads.ts'

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
