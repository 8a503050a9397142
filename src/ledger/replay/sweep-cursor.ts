/** All rows of a projection, each of which is given out once. */
export interface SweepCursor {
  /** Undefined when there is no such row, or when it was taken before. */
  visit(id: string): unknown
  /** Ids of those that were not taken, in no order. */
  unvisited(): Iterable<string>
}
