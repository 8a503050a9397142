/** A server that sends events to all its sockets. */
export interface Implementation {
  readonly port: number
  /** A token for each socket. */
  readonly tokens: readonly string[]
  /** Sends so many events to all sockets, in one turn of the event loop. */
  readonly publish: (events: number) => void
}
