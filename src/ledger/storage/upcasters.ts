import type { EventType } from '../../../schema/events.ts'

/** Converts the stored data of one version of an event to that of the next; `actor` is who made the event. */
export type Upcaster = (data: unknown, actor: string) => unknown

/**
 * By event type and by the version to convert from. Raising a version in schema/events.ts takes an upcaster here, and
 * that is all: every reader of the ledger uses `parseEvent`. Stored events are never rewritten.
 */
export const upcasters: Partial<Record<EventType, Readonly<Record<number, Upcaster>>>> = {
  'decoration-defined': { 1: namedOnce },
  'privilege-package-defined': { 1: namedOnce },
  'withdrawal-status-changed': { 1: withPartyOfActor },
}

/** Since version 2 a name may be one for each language; one name is what it was. */
function namedOnce(data: unknown): unknown {
  return data
}

/** Version 1 did not say which party changed the status. */
function withPartyOfActor(data: unknown, actor: string): unknown {
  const change: object = Object(data)
  const isOf = (field: string): boolean => actor === `user:${String(Reflect.get(change, field))}`
  return { ...change, by: isOf('user_id') ? 'requester' : isOf('target_id') ? 'target' : 'staff' }
}
