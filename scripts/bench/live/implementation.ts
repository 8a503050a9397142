/** A server of sockets that tells all of them something. */
export interface Contender {
  readonly port: number
  /** A token for each socket. */
  readonly tokens: readonly string[]
  /** Tells all sockets so many events, all in one turn. */
  readonly tell: (events: number) => void
}
