/** All rows of a projection, each of which is given out once. */
export interface GoingOver {
  /** Undefined when there is no such row, or when it was taken before. */
  take(id: string): unknown
  /** Ids of those that were not taken, in no order. */
  left(): Iterable<string>
}
