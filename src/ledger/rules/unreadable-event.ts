/** What is on the ledger cannot be read: an unknown event or version, or data that is not of its form. */
export class UnreadableEvent extends Error {}

/** Throws `Unreadable`. */
export function missingColumn(position: string | number | null, column: string): never {
  throw new UnreadableEvent(`event ${position} has no ${column}`)
}
