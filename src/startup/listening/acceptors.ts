import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'

/**
 * Node accepts one connection of a listening socket in each turn of the event loop. Under load, when a turn takes some
 * milliseconds, thousands of clients that come back would wait for half a minute, and requests on new connections with
 * them. So several sockets listen on the same port, among which Linux spreads the connections (SO_REUSEPORT).
 */
const LISTENING_SOCKETS = process.platform === 'linux' ? 16 : 1
/** Connections that may wait to be accepted, on each of them; the kernel has a limit of its own (`somaxconn`). */
const BACKLOG = 1024

export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly backlog: number
  readonly reusePort: boolean
}

/** Where to listen with several sockets. Throws when another process listens there, which sharing a port would hide. */
export async function listenOptions(host: string, port: number): Promise<ListenOptions> {
  const reusePort = LISTENING_SOCKETS > 1
  if (!reusePort) return { host, port, backlog: BACKLOG, reusePort }
  const probe = createServer()
  const address = await listenOn(probe, { host, port })
  probe.close()
  await once(probe, 'close')
  return { host, port: address.port, backlog: BACKLOG, reusePort }
}

/** Further listening sockets of an HTTP server, which has to listen with these options already. */
export class Acceptors {
  readonly #servers: readonly Server[]

  private constructor(servers: readonly Server[]) {
    this.#servers = servers
  }

  static async open(http: HttpServer, options: ListenOptions): Promise<Acceptors> {
    // As an HTTP server accepts its own connections.
    const servers = Array.from({ length: LISTENING_SOCKETS - 1 }, () =>
      createServer({ allowHalfOpen: true, noDelay: true }, (socket) => http.emit('connection', socket)),
    )
    await Promise.all(servers.map((server) => listenOn(server, options)))
    return new Acceptors(servers)
  }

  /** Accepts no more connections; resolves when the last of those that were accepted here has ended. */
  async close(): Promise<void> {
    const closed = this.#servers.map((server) => once(server, 'close'))
    for (const server of this.#servers) server.close()
    await Promise.all(closed)
  }
}

/** Throws what keeps the server from listening. */
export async function listenOn(server: Server, options: Partial<ListenOptions>): Promise<AddressInfo> {
  server.listen(options)
  // Rejects with the server's error.
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return address
}
