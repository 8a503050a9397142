/** What is on the ledger cannot be read: an unknown event or version, or data that is not of its form. */
export class Unreadable extends Error {}

/** Throws `Unreadable`. */
export function missing(position: string | number | null, column: string): never {
  throw new Unreadable(`event ${position} has no ${column}`)
}
