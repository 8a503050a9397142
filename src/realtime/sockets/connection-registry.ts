import { setTimeout as sleep } from 'node:timers/promises'
import type { CloseCode } from '../../../schema/frames.ts'
import type { AppState, ClosedState } from '../../http/auth/gate.ts'
import { closeCodes } from './close-codes.ts'
import { Connection, type ConnectionParts, type Opened } from './connection.ts'
import { longQueues } from './tcp-send-queues.ts'
import { UnknownSockets } from './unknown-sockets.ts'

/** Sockets of one user; beyond, the oldest has to go. */
const MOST_OF_A_USER = 10
/** Sockets that an instance takes. */
const MOST = 50_000
/** Sockets that have shown no token yet, in all and of one address: the oldest make room for others. */
const MAX_UNKNOWN = 2_000
const MAX_UNKNOWN_OF_AN_ADDRESS = 200
/** How long clients may take to answer a farewell, and how long to answer that they are closed. */
const FAREWELL_MS = 3_500
const CLOSE_MS = 10_000
/** The same for those who never said who they are and for those who flood. */
const SHORT_CLOSE_MS = 1_000
/** Clients that leave together come back over some time: so many milliseconds for each, and so many at least and at most. */
const RETURN_MS = { each: 5, least: 1_000, most: 30_000 }

export interface LobbyParts extends Omit<ConnectionParts, 'entered' | 'left'> {
  readonly authMs: number
  /** To whom the service is open. */
  readonly judge: AppState['judge']
  /** A socket was closed by us, or by its client: then without a code. */
  readonly closed: (code: CloseCode | null) => void
}

/** All sockets of this instance, and whose they are. */
export class Lobby {
  readonly #parts: LobbyParts
  readonly #connectionParts: ConnectionParts
  readonly #all = new Set<Connection>()
  /** In the order in which they came. */
  readonly #users = new Map<number, Set<Connection>>()
  /** Those that are closed and not gone yet, with when they have to be. */
  readonly #leaving = new Map<Connection, number>()
  readonly #unknown = new UnknownSockets()
  #draining = false

  constructor(parts: LobbyParts) {
    this.#parts = parts
    this.#connectionParts = {
      ...parts,
      entered: (connection, isNew) => this.#enter(connection, isNew),
      left: (connection, code) => this.#leave(connection, code),
    }
  }

  get size(): number {
    return this.#all.size
  }

  /** Takes a socket; `token` is what came with its request. */
  connect(opened: Opened, token: string | undefined): void {
    const connection = new Connection(opened, this.#parts.authMs, this.#connectionParts)
    this.#all.add(connection)
    opened.ws.on('close', () => this.#leaving.delete(connection))
    if (this.#draining) return this.#farewell(connection)
    // Its request was let in a moment ago.
    this.#judge(connection)
    if (!this.#all.has(connection)) return
    if (token === undefined) this.#addUnknown(connection)
    // Who has a token takes the place of one who has shown none.
    else if (this.#all.size > MOST) this.#unknown.oldest?.close(closeCodes.capacity)
    if (this.#all.size > MOST) return connection.close(closeCodes.capacity)
    if (token !== undefined) void connection.enter(token)
  }

  #addUnknown(connection: Connection): void {
    this.#unknown.add(connection)
    const { address } = connection
    if (this.#unknown.countOf(address) > MAX_UNKNOWN_OF_AN_ADDRESS) {
      this.#unknown.oldestOf(address)?.close(closeCodes.capacity)
    } else if (this.#unknown.size > MAX_UNKNOWN) {
      this.#unknown.oldest?.close(closeCodes.capacity)
    }
  }

  /** The sockets of a user; undefined when there are none. */
  of(userId: number): ReadonlySet<Connection> | undefined {
    return this.#users.get(userId)
  }

  /** The user's tokens issued before that second are over. */
  revoke(userId: number, before: number): void {
    for (const connection of this.#users.get(userId) ?? []) {
      if (connection.holder !== undefined && connection.holder.issuedAt < before) connection.close(closeCodes.token)
    }
  }

  /** Sends signs of life and closes what is past its time. To be called often. */
  look(): void {
    const now = performance.now()
    const seconds = Date.now() / 1000
    for (const connection of this.#all) connection.look(now, seconds)
    for (const [connection, until] of this.#leaving) if (now >= until) connection.terminate()
  }

  /** Closes those that do not take what was sent, of which only the kernel knows. */
  async lookAtQueues(): Promise<void> {
    if (this.#all.size === 0) return
    const queues = await longQueues()
    for (const connection of this.#all) connection.judgeQueues(queues)
  }

  /** Says goodbye to all, and to whoever still comes. */
  async drain(): Promise<void> {
    this.#draining = true
    for (const connection of this.#all) this.#farewell(connection)
    const until = performance.now() + FAREWELL_MS
    while (this.#leaving.size > 0 && performance.now() < until) await sleep(20)
    for (const connection of this.#leaving.keys()) connection.terminate()
  }

  #farewell(connection: Connection): void {
    const { each, least, most } = RETURN_MS
    const within = Math.min(most, Math.max(least, this.#all.size * each))
    connection.send({ t: 'bye', code: closeCodes.drain, retry_ms: Math.floor(Math.random() * within) })
    connection.close(closeCodes.drain)
  }

  /** The app's state has changed: tells those to whom it is closed now, and closes. */
  judge(): void {
    for (const connection of this.#all) this.#judge(connection)
  }

  #judge(connection: Connection): void {
    const apply = (closed: ClosedState | undefined): void => {
      if (closed === undefined) return
      connection.send({ t: 'ev', ch: 'global', event: 'app-status', data: closed.body })
      connection.close(closed.status === 503 ? closeCodes.maintenance : closeCodes.updateRequired)
    }
    const judgement = this.#parts.judge(connection.shown)
    if (judgement instanceof Promise) void judgement.then(apply)
    else apply(judgement)
  }

  #enter(connection: Connection, isNew: boolean): void {
    const { holder } = connection
    if (isNew && holder !== undefined) this.#add(connection, holder.userId)
    // Something may be known of the token.
    this.#judge(connection)
  }

  #add(connection: Connection, userId: number): void {
    this.#unknown.delete(connection)
    const others = this.#users.get(userId)
    if (others === undefined) {
      this.#users.set(userId, new Set([connection]))
      return
    }
    others.add(connection)
    const [oldest] = others
    if (others.size > MOST_OF_A_USER) oldest?.close(closeCodes.replaced)
  }

  #leave(connection: Connection, code: CloseCode | null): void {
    this.#all.delete(connection)
    const { holder } = connection
    const isShort = holder === undefined || code === closeCodes.tooFast
    if (code !== null) this.#leaving.set(connection, performance.now() + (isShort ? SHORT_CLOSE_MS : CLOSE_MS))
    if (holder === undefined) {
      this.#unknown.delete(connection)
    } else {
      const others = this.#users.get(holder.userId)
      others?.delete(connection)
      if (others?.size === 0) this.#users.delete(holder.userId)
    }
    this.#parts.closed(code)
  }
}
