import { setTimeout as sleep } from 'node:timers/promises'
import type { CloseCode } from '../../../schema/frames.ts'
import type { AppState, ClosedState } from '../../http/auth/gate.ts'
import type { ChannelKey } from '../frames/frame-mapper.ts'
import { TimeSlice } from '../time-slice.ts'
import { closeCodes } from './client.ts'
import { Connection, type ConnectionParts, type OpenedSocket } from './connection.ts'

/** Beyond it, the user's oldest socket is closed. */
const MAX_SOCKETS_PER_USER = 10
/** Sockets of one instance. */
export const MAX_SOCKETS = 50_000
/** Sockets that have not authenticated, in all and for each address; beyond it, the oldest is closed. */
const MAX_UNAUTHENTICATED = 2_000
const MAX_UNAUTHENTICATED_PER_ADDRESS = 200
/** How long all clients may take to answer the close at shutdown, and one client to answer it at other times. */
const SHUTDOWN_TIMEOUT_MS = 3_500
const CLOSE_TIMEOUT_MS = 10_000
/** How long clients are sent away in one turn of the event loop; requests wait for it. */
const DRAIN_SLICE_MS = 2
/** The same for clients that never authenticated or that flood. */
const SHORT_CLOSE_TIMEOUT_MS = 1_000

interface ConnectionRegistryParts extends Omit<ConnectionParts, 'onAuthenticated' | 'onClosed'> {
  /** How long a client may take to authenticate. */
  readonly authMs: number
  /** Whether the service is closed to a client. */
  readonly checkAppState: AppState['check']
  readonly returnTimes: ReturnTimes
  /** Called with our close code, or null when the client closed. */
  readonly onSocketClosed: (code: CloseCode | null) => void
}

/** All connections of this instance, and those of each user. */
export class ConnectionRegistry {
  readonly #parts: ConnectionRegistryParts
  readonly #connectionParts: ConnectionParts
  readonly #all = new Set<Connection>()
  /** Each user's connections, oldest first. */
  readonly #byUser = new Map<number, Set<Connection>>()
  /** Connections that wait for the client's close frame, by when they are cut. */
  readonly #closing = new Map<Connection, number>()
  readonly #unauthenticated = new UnauthenticatedSockets()
  /** How many clients the shutdown sends away; null while there is none. */
  #drained: number | null = null

  constructor(parts: ConnectionRegistryParts) {
    this.#parts = parts
    this.#connectionParts = {
      ...parts,
      onAuthenticated: (connection, isNew) => this.#onAuthenticated(connection, isNew),
      onClosed: (connection, code) => this.#onClosed(connection, code),
    }
  }

  get size(): number {
    return this.#all.size
  }

  get sockets(): { readonly authenticated: number; readonly unauthenticated: number; readonly closing: number } {
    const unauthenticated = this.#unauthenticated.size
    return { authenticated: this.#all.size - unauthenticated, unauthenticated, closing: this.#closing.size }
  }

  /** Bytes that wait for clients in this process. */
  get unsentBytes(): number {
    let bytes = 0
    for (const { unsentBytes } of this.#all) bytes += unsentBytes
    return bytes
  }

  /** For each channel with listeners on this instance, how many they are. */
  listenerCounts(): Iterable<readonly [ChannelKey, number]> {
    return this.#parts.hub.listenerCounts()
  }

  get returnTimes(): ReturnTimes {
    return this.#parts.returnTimes
  }

  get isDraining(): boolean {
    return this.#drained !== null
  }

  /** For what is done for many sockets at once. */
  get timeSlice(): TimeSlice {
    return this.#parts.timeSlice
  }

  /** Takes an opened socket; `token` is that of its upgrade request. */
  connect(opened: OpenedSocket, token: string | undefined): void {
    const connection = new Connection(opened, this.#parts.authMs, this.#connectionParts)
    this.#all.add(connection)
    opened.ws.on('close', () => this.#closing.delete(connection))
    if (this.#drained !== null) return this.#sendShutdownNotice(connection, this.#drained)
    // The app state may have changed since the upgrade request was checked.
    this.#checkGate(connection)
    if (!this.#all.has(connection)) return
    if (token === undefined) this.#addUnauthenticated(connection)
    // A client with a token takes the place of one without.
    else if (this.#all.size > MAX_SOCKETS) this.#unauthenticated.oldest?.close(closeCodes.capacity)
    if (this.#all.size > MAX_SOCKETS) {
      const retry_ms = this.returnTimes.next(performance.now())
      return this.#sendAway(connection, closeCodes.capacity, retry_ms)
    }
    if (token !== undefined) void connection.authenticate(token)
  }

  #addUnauthenticated(connection: Connection): void {
    this.#unauthenticated.add(connection)
    const { address } = connection
    if (this.#unauthenticated.countOf(address) > MAX_UNAUTHENTICATED_PER_ADDRESS) {
      this.#unauthenticated.oldestOf(address)?.close(closeCodes.capacity)
    } else if (this.#unauthenticated.size > MAX_UNAUTHENTICATED) {
      this.#unauthenticated.oldest?.close(closeCodes.capacity)
    }
  }

  /** A user's connections; undefined when there are none. */
  connectionsOf(userId: number): ReadonlySet<Connection> | undefined {
    return this.#byUser.get(userId)
  }

  /** Closes the user's connections whose token was issued before this second. */
  revoke(userId: number, before: number): void {
    for (const connection of this.#byUser.get(userId) ?? []) {
      if (connection.session !== undefined && connection.session.issuedAt < before) connection.close(closeCodes.token)
    }
  }

  /** Ends the subscriptions of a user who left a room, as `Subscriptions.leaveRoom`. */
  leaveRoom(roomId: number, userId: number, position: number): void {
    for (const connection of this.#byUser.get(userId) ?? []) connection.leaveRoom(roomId, position)
  }

  /** Sends heartbeats and closes connections past a deadline. Called often. */
  sweep(): void {
    const now = performance.now()
    const seconds = Date.now() / 1000
    for (const connection of this.#all) connection.checkDeadlines(now, seconds)
    for (const [connection, until] of this.#closing) if (now >= until) connection.terminate()
  }

  /** Closes all connections with a shutdown notice, some in each turn of the event loop, and those that still come. */
  async drain(): Promise<void> {
    const count = this.#all.size
    this.#drained = count
    const until = performance.now() + SHUTDOWN_TIMEOUT_MS
    // A slice of its own: clients that still come must not delay those that are sent away.
    const timeSlice = new TimeSlice(DRAIN_SLICE_MS)
    for (const connection of this.#all) {
      await timeSlice.turn()
      this.#sendShutdownNotice(connection, count)
    }
    while (this.#closing.size > 0 && performance.now() < until) await sleep(20)
    for (const connection of this.#closing.keys()) connection.terminate()
  }

  #sendShutdownNotice(connection: Connection, count: number): void {
    this.#sendAway(connection, closeCodes.drain, this.returnTimes.oneOf(count))
  }

  /** Closes a connection whose client may come back after `retry_ms`. */
  #sendAway(connection: Connection, code: CloseCode, retry_ms: number): void {
    connection.send({ t: 'bye', code, retry_ms })
    connection.close(code)
  }

  /** Called when the app state has changed: closes the connections to which the service is closed now. */
  recheckGate(): void {
    for (const connection of this.#all) this.#checkGate(connection)
  }

  #checkGate(connection: Connection): void {
    const apply = (closed: ClosedState | undefined): void => {
      if (closed === undefined) return
      connection.send({ t: 'ev', ch: 'global', event: 'app-status', data: closed.body })
      connection.close(closed.status === 503 ? closeCodes.maintenance : closeCodes.updateRequired)
    }
    const decision = this.#parts.checkAppState(connection.clientHints)
    if (decision instanceof Promise) void decision.then(apply)
    else apply(decision)
  }

  #onAuthenticated(connection: Connection, isNew: boolean): void {
    const { session } = connection
    if (isNew && session !== undefined) this.#addToUser(connection, session.userId)
    // The token may identify the client's version.
    this.#checkGate(connection)
  }

  #addToUser(connection: Connection, userId: number): void {
    this.#unauthenticated.delete(connection)
    const connections = this.#byUser.get(userId)
    if (connections === undefined) {
      this.#byUser.set(userId, new Set([connection]))
      return
    }
    connections.add(connection)
    const [oldest] = connections
    if (connections.size > MAX_SOCKETS_PER_USER) oldest?.close(closeCodes.replaced)
  }

  #onClosed(connection: Connection, code: CloseCode | null): void {
    this.#all.delete(connection)
    const { session } = connection
    if (code !== null) {
      const isShort = session === undefined || code === closeCodes.tooFast
      this.#closing.set(connection, performance.now() + (isShort ? SHORT_CLOSE_TIMEOUT_MS : CLOSE_TIMEOUT_MS))
    }
    if (session === undefined) {
      this.#unauthenticated.delete(connection)
    } else {
      const connections = this.#byUser.get(session.userId)
      connections?.delete(connection)
      if (connections?.size === 0) this.#byUser.delete(session.userId)
    }
    this.#parts.onSocketClosed(code)
  }
}

/** Connections that have not authenticated yet, oldest first, in all and for each address. */
class UnauthenticatedSockets {
  readonly #all = new Set<Connection>()
  readonly #byAddress = new Map<string, Set<Connection>>()

  get size(): number {
    return this.#all.size
  }

  get oldest(): Connection | undefined {
    return this.#all.values().next().value
  }

  countOf(address: string): number {
    return this.#byAddress.get(address)?.size ?? 0
  }

  oldestOf(address: string): Connection | undefined {
    return this.#byAddress.get(address)?.values().next().value
  }

  add(connection: Connection): void {
    this.#all.add(connection)
    const others = this.#byAddress.get(connection.address)
    if (others === undefined) this.#byAddress.set(connection.address, new Set([connection]))
    else others.add(connection)
  }

  /** Does nothing for a connection that is not here. */
  delete(connection: Connection): void {
    this.#all.delete(connection)
    const others = this.#byAddress.get(connection.address)
    others?.delete(connection)
    if (others?.size === 0) this.#byAddress.delete(connection.address)
  }
}

/** Sockets that may come back to an instance in a second: with less than this, they take no more than a part of it. */
const RETURNS_PER_SECOND_AND_CORE = 300
const MIN_WAIT_MS = 1_000
/** As many sockets as an instance takes; a flood of upgrades must not send all others away for hours. */
const MAX_RETURNING = 50_000

/** When clients whose sockets were refused or closed may come back, so that not all of them come at once. */
export class ReturnTimes {
  /** Sockets that come back in a second. */
  readonly perSecond: number
  /** When the next one comes back, by `performance.now()`. */
  #next = 0

  constructor(cores: number) {
    this.perSecond = RETURNS_PER_SECOND_AND_CORE * cores
  }

  /**
   * The wait of the next of many clients that come one by one, in milliseconds: each gets a time of its own, a random one
   * while as many as may return are on their way.
   */
  next(now: number): number {
    const next = Math.max(this.#next, now + MIN_WAIT_MS) + 1_000 / this.perSecond
    const maxWaitMs = MIN_WAIT_MS + (MAX_RETURNING / this.perSecond) * 1_000
    if (next - now > maxWaitMs) return Math.ceil(MIN_WAIT_MS + Math.random() * (maxWaitMs - MIN_WAIT_MS))
    this.#next = next
    return Math.ceil(next - now)
  }

  /** A random wait for one of `count` clients that are all closed now, in milliseconds. */
  oneOf(count: number): number {
    return Math.floor(Math.random() * Math.max(MIN_WAIT_MS, (count / this.perSecond) * 1_000))
  }
}
