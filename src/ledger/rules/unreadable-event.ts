/** A stored event that cannot be read: of an unknown type or version, or with data that does not match its schema. */
export class UnreadableEvent extends Error {}

/** Throws `UnreadableEvent`. */
export function missingColumn(position: string | number | null, column: string): never {
  throw new UnreadableEvent(`event ${position} has no ${column}`)
}
