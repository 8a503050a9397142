import type { EventType } from '../../../schema/events.ts'

/** Converts the stored data of one version of an event to that of the next. */
export type Upcaster = (data: unknown) => unknown

/**
 * By event type and by the version to convert from. Raising a version in schema/events.ts takes an upcaster here, and
 * that is all: every reader of the ledger uses `parseEvent`. Stored events are never rewritten.
 *
 * Every event still has its first version.
 */
export const upcasters: Partial<Record<EventType, Readonly<Record<number, Upcaster>>>> = {}
