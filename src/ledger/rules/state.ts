import type { Projection } from './projection.ts'

/** Rows by projection and id. Reading a row that the verb did not declare in its `reads` is a bug and throws. */
export interface State {
  get<Row>(projection: Projection<Row>, id: string): Row | undefined
  /** Whether the row may be read: it was loaded, or is known not to exist. */
  isLoaded(projection: Projection<unknown>, id: string): boolean
}

export interface WritableState extends State {
  /** Writes a row, declared or not; `undefined` deletes it. */
  set<Row>(projection: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void
  /** Adds to a balance and returns the new one, or 0 for a balance that is kept elsewhere. */
  add?(account: string, change: number | bigint): number | bigint
}
