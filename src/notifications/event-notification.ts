import type { EventType } from '../../schema/events.ts'
import type { Language, LocalizedText } from '../../schema/languages.ts'
import type { Notification } from '../../schema/notifications.ts'
import type { StoredName } from '../language/names.ts'
import type { EventWithoutMovements } from '../ledger/rules/event.ts'

/** Names that notifications show, by id. People who were erased are missing, or have an empty name. */
export interface Names {
  readonly users: ReadonlyMap<number, { readonly name: string }>
  readonly packages: ReadonlyMap<number, StoredName>
}

/** The ids whose names a notification shows. */
export type NamedIds = { readonly [Kind in keyof Names]?: readonly number[] }

/** The text of a notification in every language. */
export interface NotificationText {
  readonly title: LocalizedText
  readonly body: LocalizedText
}

/** What an event tells one user: pushed to the user's devices, sent over their sockets and listed in their inbox. */
export interface EventNotification extends Omit<Notification, 'title' | 'body'> {
  readonly user_id: number
  readonly namedIds: NamedIds
  /** Pure. */
  readonly text: (names: Names) => NotificationText
}

/**
 * Whom the events of a slice tell what, by event type. Pure, and no event tells a user twice. Whom an event tells is
 * part of what it means and never changes: the inbox follows from it.
 */
export type NotificationMapper = {
  readonly [T in EventType]?: (event: EventWithoutMovements<T>) => readonly EventNotification[]
}

/** Combines the slices' mappers, no two of which may have the same event type. */
export function combineNotificationMappers(mappers: readonly NotificationMapper[]): NotificationMapper {
  const types = mappers.flatMap((mapper) => Object.keys(mapper))
  if (new Set(types).size < types.length) throw new Error('two slices tell users of the same event')
  return Object.assign({}, ...mappers)
}

/** What an event tells users. */
export function notificationsOf<T extends EventType>(
  mapper: NotificationMapper,
  event: EventWithoutMovements<T>,
): readonly EventNotification[] {
  const type: T = event.type
  return mapper[type]?.(event) ?? []
}

/** A notification in one language. */
export function renderNotification(
  { user_id: _user, namedIds: _ids, text, ...fields }: EventNotification,
  names: Names,
  language: Language,
): Notification {
  const { title, body } = text(names)
  return { title: title[language], body: body[language], ...fields }
}
