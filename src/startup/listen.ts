import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { errorCode } from '../config/error-code.ts'
import { currentResponse } from '../http/server-options.ts'

/**
 * Node accepts one connection of a listening socket in each turn of the event loop. Under load, when a turn takes some
 * milliseconds, thousands of clients that return would wait for half a minute, and requests on new connections with
 * them. So several sockets listen on the same port, among which Linux spreads the connections (SO_REUSEPORT).
 */
const LISTENING_SOCKETS = process.platform === 'linux' ? 16 : 1
/** Connections that may wait to be accepted, on each of them; the kernel has a limit of its own (`somaxconn`). */
const BACKLOG = 1024

interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly backlog: number
  readonly reusePort: boolean
}

/** Where to listen with several sockets. Throws when another process listens there, which sharing a port would hide. */
async function listenOptions(host: string, port: number): Promise<ListenOptions> {
  const reusePort = LISTENING_SOCKETS > 1
  if (!reusePort) return { host, port, backlog: BACKLOG, reusePort }
  const probe = createServer()
  const address = await listenOn(probe, { host, port })
  probe.close()
  await once(probe, 'close')
  return { host, port: address.port, backlog: BACKLOG, reusePort }
}

/** Further listening sockets of an HTTP server, which has to listen with these options already. */
class Acceptors {
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
async function listenOn(server: Server, options: Partial<ListenOptions>): Promise<AddressInfo> {
  server.listen(options)
  // Rejects with the server's error.
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return address
}

/** How long responses ask clients to close kept-alive connections, before the service closes them. */
export const KEEP_ALIVE_NOTICE_MS = 150
/** How long running requests may take when nobody listens any more. */
const DRAIN_TIMEOUT_MS = 4_000
/** Between two looks for connections that have become idle. */
const IDLE_INTERVAL_MS = 50
/** Looks after which connections are closed that have not sent a whole request; each takes a turn of the event loop. */
const MAX_LOOKS_WITHOUT_REQUEST = 10

/** Listens until `cleanUp`, which lets accepted requests finish. Resolves to the port; an Error names the address. */
export async function listen(
  app: FastifyInstance,
  { host, port }: Pick<Config, 'host' | 'port'>,
  cleanUp: AsyncDisposableStack,
): Promise<number> {
  const { server } = app
  const connections = new Connections()
  let acceptors: Acceptors | undefined
  const stopping = new AsyncDisposableStack()
  // The sockets are drained by then. Responses ask clients to close: without this time, one that is about to send its
  // next request would be cut off.
  app.addHook('preClose', async () => {
    await sleep(KEEP_ALIVE_NOTICE_MS)
    await untilQuiet(server)
    // In the same turn the app's own server stops.
    const ended = acceptors?.close()
    stopping.defer(closeConnections(server, connections))
    stopping.defer(() => ended)
  })
  cleanUp.use(stopping)
  cleanUp.defer(() => app.close())
  connections.watch(server)
  try {
    const options = await listenOptions(host, port)
    await app.listen(options)
    acceptors = await Acceptors.open(server, options)
    return options.port
  } catch (error) {
    const reason =
      errorCode(error) === 'EADDRINUSE'
        ? 'the port is in use; set PORT to another one'
        : error instanceof Error
          ? error.message
          : String(error)
    throw new Error(`Cannot listen on ${host} port ${port}: ${reason}.`, { cause: error })
  }
}

/**
 * Closes connections when they become idle, those without a whole request after half a second, and all others after a
 * while. Returns how to end that.
 */
function closeConnections(server: HttpServer, connections: Connections): () => void {
  let looks = 0
  const idle = setInterval(() => {
    looks += 1
    server.closeIdleConnections()
    if (looks >= MAX_LOOKS_WITHOUT_REQUEST) connections.closeUnused()
  }, IDLE_INTERVAL_MS)
  const timeout = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS)
  return () => {
    clearInterval(idle)
    clearTimeout(timeout)
  }
}

/** The open connections of HTTP servers, without those that became websockets. */
class Connections {
  readonly #open = new Set<Duplex>()

  watch(server: HttpServer): void {
    const open = this.#open
    // One function for all: websockets outlive their upgrade by hours, and a listener of each would take memory.
    function drop(this: Duplex): void {
      open.delete(this)
    }
    server.on('connection', (socket) => {
      open.add(socket)
      socket.on('close', drop)
    })
    server.on('upgrade', (_request, socket) => open.delete(socket))
  }

  /** Closes those on which no request is being handled, whatever part of one has arrived. */
  closeUnused(): void {
    for (const socket of this.#open) if (currentResponse(socket) === undefined) socket.destroy()
  }
}

const MAX_WAIT_MS = 1_000
/** Where the processor is busy with others, one turn can take longer than all of the time. */
const MIN_LOOKS = 50

/**
 * Resolves in a turn of the event loop that brought neither a connection nor a request, or after a second and some tens
 * of turns: those who stop listening then reset hardly any client.
 */
async function untilQuiet(server: HttpServer): Promise<void> {
  let events = 0
  const count = (): void => {
    events += 1
  }
  server.on('connection', count).on('request', count)
  const until = performance.now() + MAX_WAIT_MS
  for (let before = -1, looks = 0; before !== events && (looks < MIN_LOOKS || performance.now() < until); looks += 1) {
    before = events
    // A whole turn, with its reading of sockets, lies between two of these.
    await nextTurn()
    await nextTurn()
  }
  server.off('connection', count).off('request', count)
}
