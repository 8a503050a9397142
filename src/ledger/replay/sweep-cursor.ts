/** One pass over all rows of a projection: mark the rows that a table has, then sweep those left unmarked. */
export interface SweepCursor {
  /** The row of this id; undefined when there is none, or when it was visited before. */
  visit(id: string): unknown
  /** The ids of the rows not visited, in no order. */
  unvisited(): Iterable<string>
}
