import type { Server, Socket } from 'node:net'
import type { LedgerEntry } from '../ledger/storage/event-hash.ts'
import { ServedConnection, type ServedConnectionOptions } from './served-connection.ts'

/** Instances that a writer serves at a time. */
const MAX_CONNECTIONS = 256

/** Serves the commands of other instances while this one is the writer. */
export class CommandServer {
  readonly #options: ServedConnectionOptions
  readonly #servers: Server[] = []
  readonly #connections = new Set<ServedConnection>()
  #hasResigned = false

  constructor(options: ServedConnectionOptions) {
    this.#options = options
  }

  /** Instances that send their commands here. */
  get instances(): number {
    return [...this.#connections].filter(({ isWelcome }) => isWelcome).length
  }

  /** Serves what `listen` accepts. Rejects as `listen` does. */
  async listen(listen: (onConnection: (socket: Socket) => void) => Promise<Server>): Promise<void> {
    const server = await listen((socket) => this.#accept(socket))
    if (this.#hasResigned) server.close()
    else this.#servers.push(server)
  }

  /** Sends committed events to all instances, ahead of the answers that follow. */
  share(events: readonly LedgerEntry[]): void {
    if (events.length === 0) return
    for (const connection of this.#connections) connection.share(events)
  }

  /** Takes no more commands, and closes each connection once it has its answers. */
  async resign(): Promise<void> {
    this.#hasResigned = true
    for (const server of this.#servers) server.close()
    for (const connection of this.#connections) connection.resign()
    await Promise.all([...this.#connections].map(({ closed }) => closed))
  }

  #accept(socket: Socket): void {
    if (this.#hasResigned || this.#connections.size >= MAX_CONNECTIONS) {
      socket.destroy()
      return
    }
    const connection = new ServedConnection(socket, this.#options)
    this.#connections.add(connection)
    void connection.closed.then(() => this.#connections.delete(connection))
  }
}
