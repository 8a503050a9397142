import type { EventType } from '../../../schema/events.ts'

/** Makes data of one version of an event into that of the next version. It knows nothing else: `data` is as stored. */
export type Upcaster = (data: unknown) => unknown

/**
 * The one table of older versions, by event and by the version that the data comes from. Whoever raises an event's
 * version in schema/events.ts adds the way from the one before here, and it is read everywhere: all that reads the
 * ledger reads it through `readEvent`. What stands on the ledger is never rewritten.
 *
 * Every event still has its first version.
 */
export const upcasters: Partial<Record<EventType, Readonly<Record<number, Upcaster>>>> = {}
