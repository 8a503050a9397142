/** A server of sockets that tells all of them something. */
export interface Implementation {
  readonly port: number
  /** A token for each socket. */
  readonly tokens: readonly string[]
  /** Tells all sockets so many events, all in one turn. */
  readonly publish: (events: number) => void
}
