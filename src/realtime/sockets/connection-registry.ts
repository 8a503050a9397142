import { setTimeout as sleep } from 'node:timers/promises'
import type { CloseCode } from '../../../schema/frames.ts'
import type { AppState, ClosedState } from '../../http/auth/gate.ts'
import { closeCodes } from './close-codes.ts'
import { Connection, type ConnectionParts, type OpenedSocket } from './connection.ts'
import { readSendQueues } from './tcp-send-queues.ts'
import { UnauthenticatedSockets } from './unauthenticated-sockets.ts'

/** Sockets of one user; beyond, the oldest has to go. */
const MAX_SOCKETS_PER_USER = 10
/** Sockets that an instance takes. */
const MAX_SOCKETS = 50_000
/** Sockets that have shown no token yet, in all and of one address: the oldest make room for others. */
const MAX_UNAUTHENTICATED = 2_000
const MAX_UNAUTHENTICATED_PER_ADDRESS = 200
/** How long clients may take to answer a farewell, and how long to answer that they are closed. */
const SHUTDOWN_TIMEOUT_MS = 3_500
const CLOSE_TIMEOUT_MS = 10_000
/** The same for those who never said who they are and for those who flood. */
const SHORT_CLOSE_TIMEOUT_MS = 1_000
/** Clients that leave together come back over some time: so many milliseconds for each, and so many at least and at most. */
const RECONNECT_SPREAD_MS = { perSocket: 5, min: 1_000, max: 30_000 }

export interface ConnectionRegistryParts extends Omit<ConnectionParts, 'onAuthenticated' | 'onClosed'> {
  readonly authMs: number
  /** To whom the service is open. */
  readonly judgeState: AppState['judge']
  /** A socket was closed by us, or by its client: then without a code. */
  readonly onSocketClosed: (code: CloseCode | null) => void
}

/** All sockets of this instance, and whose they are. */
export class ConnectionRegistry {
  readonly #parts: ConnectionRegistryParts
  readonly #connectionParts: ConnectionParts
  readonly #all = new Set<Connection>()
  /** In the order in which they came. */
  readonly #byUser = new Map<number, Set<Connection>>()
  /** Those that are closed and not gone yet, with when they have to be. */
  readonly #closing = new Map<Connection, number>()
  readonly #unauthenticated = new UnauthenticatedSockets()
  #isDraining = false

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

  /** Takes a socket; `token` is what came with its request. */
  connect(opened: OpenedSocket, token: string | undefined): void {
    const connection = new Connection(opened, this.#parts.authMs, this.#connectionParts)
    this.#all.add(connection)
    opened.ws.on('close', () => this.#closing.delete(connection))
    if (this.#isDraining) return this.#sendShutdownNotice(connection)
    // Its request was let in a moment ago.
    this.#checkGate(connection)
    if (!this.#all.has(connection)) return
    if (token === undefined) this.#addUnauthenticated(connection)
    // Who has a token takes the place of one who has shown none.
    else if (this.#all.size > MAX_SOCKETS) this.#unauthenticated.oldest?.close(closeCodes.capacity)
    if (this.#all.size > MAX_SOCKETS) return connection.close(closeCodes.capacity)
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

  /** The sockets of a user; undefined when there are none. */
  connectionsOf(userId: number): ReadonlySet<Connection> | undefined {
    return this.#byUser.get(userId)
  }

  /** The user's tokens issued before that second are over. */
  revoke(userId: number, before: number): void {
    for (const connection of this.#byUser.get(userId) ?? []) {
      if (connection.session !== undefined && connection.session.issuedAt < before) connection.close(closeCodes.token)
    }
  }

  /** Sends signs of life and closes what is past its time. To be called often. */
  sweep(): void {
    const now = performance.now()
    const seconds = Date.now() / 1000
    for (const connection of this.#all) connection.checkDeadlines(now, seconds)
    for (const [connection, until] of this.#closing) if (now >= until) connection.terminate()
  }

  /** Closes those that do not take what was sent, of which only the kernel knows. */
  async checkSendQueues(): Promise<void> {
    if (this.#all.size === 0) return
    const queues = await readSendQueues()
    for (const connection of this.#all) connection.checkSendQueue(queues)
  }

  /** Says goodbye to all, and to whoever still comes. */
  async drain(): Promise<void> {
    this.#isDraining = true
    for (const connection of this.#all) this.#sendShutdownNotice(connection)
    const until = performance.now() + SHUTDOWN_TIMEOUT_MS
    while (this.#closing.size > 0 && performance.now() < until) await sleep(20)
    for (const connection of this.#closing.keys()) connection.terminate()
  }

  #sendShutdownNotice(connection: Connection): void {
    const { perSocket, min, max } = RECONNECT_SPREAD_MS
    const within = Math.min(max, Math.max(min, this.#all.size * perSocket))
    connection.send({ t: 'bye', code: closeCodes.drain, retry_ms: Math.floor(Math.random() * within) })
    connection.close(closeCodes.drain)
  }

  /** The app's state has changed: tells those to whom it is closed now, and closes. */
  recheckGate(): void {
    for (const connection of this.#all) this.#checkGate(connection)
  }

  #checkGate(connection: Connection): void {
    const apply = (closed: ClosedState | undefined): void => {
      if (closed === undefined) return
      connection.send({ t: 'ev', ch: 'global', event: 'app-status', data: closed.body })
      connection.close(closed.status === 503 ? closeCodes.maintenance : closeCodes.updateRequired)
    }
    const judgement = this.#parts.judgeState(connection.clientHints)
    if (judgement instanceof Promise) void judgement.then(apply)
    else apply(judgement)
  }

  #onAuthenticated(connection: Connection, isNew: boolean): void {
    const { session } = connection
    if (isNew && session !== undefined) this.#addToUser(connection, session.userId)
    // Something may be known of the token.
    this.#checkGate(connection)
  }

  #addToUser(connection: Connection, userId: number): void {
    this.#unauthenticated.delete(connection)
    const others = this.#byUser.get(userId)
    if (others === undefined) {
      this.#byUser.set(userId, new Set([connection]))
      return
    }
    others.add(connection)
    const [oldest] = others
    if (others.size > MAX_SOCKETS_PER_USER) oldest?.close(closeCodes.replaced)
  }

  #onClosed(connection: Connection, code: CloseCode | null): void {
    this.#all.delete(connection)
    const { session } = connection
    const isShort = session === undefined || code === closeCodes.tooFast
    if (code !== null)
      this.#closing.set(connection, performance.now() + (isShort ? SHORT_CLOSE_TIMEOUT_MS : CLOSE_TIMEOUT_MS))
    if (session === undefined) {
      this.#unauthenticated.delete(connection)
    } else {
      const others = this.#byUser.get(session.userId)
      others?.delete(connection)
      if (others?.size === 0) this.#byUser.delete(session.userId)
    }
    this.#parts.onSocketClosed(code)
  }
}
