import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config/config.ts'
import { errorCode } from '../../config/error-code.ts'
import { currentResponse } from '../../http/current-response.ts'
import { Acceptors, type ListenOptions, listenOn, listenOptions } from './acceptors.ts'
import { createLiveServer } from './live-server.ts'

/** How long responses ask clients to close kept-alive connections, before the service closes them. */
export const KEEP_ALIVE_NOTICE_MS = 150
/** How long running requests may take when nobody listens any more. */
const DRAIN_TIMEOUT_MS = 4_000
/** Between two looks for connections that have become idle. */
const IDLE_INTERVAL_MS = 50
/** Looks after which connections are closed that have not sent a whole request; each takes a turn of the event loop. */
const MAX_LOOKS_WITHOUT_REQUEST = 10

/**
 * Listens until `cleanUp`, which lets accepted requests finish; where `LIVE_PORT` is given, for websockets there, too.
 * Resolves to the port. Throws an Error that names the address.
 */
export async function listen(
  app: FastifyInstance,
  { host, port, livePort }: Pick<Config, 'host' | 'port' | 'livePort'>,
  cleanUp: AsyncDisposableStack,
): Promise<number> {
  const servers: Server[] = [app.server]
  const connections = new Connections()
  const acceptors: Acceptors[] = []
  const stopping = new AsyncDisposableStack()
  // The sockets are drained by then. Responses ask clients to close: without this time, one that is about to send its
  // next request would be cut off.
  app.addHook('preClose', async () => {
    await sleep(KEEP_ALIVE_NOTICE_MS)
    await untilQuiet(servers)
    // In the same turn the app's own server stops.
    const ended = stopListening(servers.slice(1), acceptors)
    stopping.defer(closeConnections(servers, connections))
    stopping.defer(() => ended)
  })
  cleanUp.use(stopping)
  cleanUp.defer(() => app.close())
  const mainPort = await listenAt(host, 'PORT', port, async (options) => {
    connections.watch(app.server)
    await app.listen(options)
    acceptors.push(await Acceptors.open(app.server, options))
  })
  if (livePort !== null) {
    await listenAt(host, 'LIVE_PORT', livePort, async (options) => {
      const live = createLiveServer(app)
      connections.watch(live)
      await listenOn(live, options)
      servers.push(live)
      acceptors.push(await Acceptors.open(live, options))
    })
  }
  return mainPort
}

/** Resolves to the port; an error names the address, and `variable` where another port would help. */
async function listenAt(
  host: string,
  variable: string,
  port: number,
  open: (options: ListenOptions) => Promise<void>,
): Promise<number> {
  try {
    const options = await listenOptions(host, port)
    await open(options)
    return options.port
  } catch (error) {
    const reason =
      errorCode(error) === 'EADDRINUSE'
        ? `the port is in use; set ${variable} to another one`
        : error instanceof Error
          ? error.message
          : String(error)
    throw new Error(`Cannot listen on ${host} port ${port}: ${reason}.`, { cause: error })
  }
}

async function stopListening(servers: readonly Server[], acceptors: readonly Acceptors[]): Promise<void> {
  await Promise.all([
    ...acceptors.map((acceptor) => acceptor.close()),
    ...servers.map((server) => new Promise((resolve) => server.close(resolve))),
  ])
}

/**
 * Closes connections when they become idle, those without a whole request after half a second, and all others after a
 * while. Returns how to end that.
 */
function closeConnections(servers: readonly Server[], connections: Connections): () => void {
  let looks = 0
  const idle = setInterval(() => {
    looks += 1
    for (const server of servers) server.closeIdleConnections()
    if (looks >= MAX_LOOKS_WITHOUT_REQUEST) connections.closeUnused()
  }, IDLE_INTERVAL_MS)
  const timeout = setTimeout(() => {
    for (const server of servers) server.closeAllConnections()
  }, DRAIN_TIMEOUT_MS)
  return () => {
    clearInterval(idle)
    clearTimeout(timeout)
  }
}

/** The open connections of HTTP servers, without those that became websockets. */
class Connections {
  readonly #open = new Set<Duplex>()

  watch(server: Server): void {
    const open = this.#open
    // One function for all: websockets outlive their upgrade by hours, and a listener of each would take memory.
    function forget(this: Duplex): void {
      open.delete(this)
    }
    server.on('connection', (socket) => {
      open.add(socket)
      socket.on('close', forget)
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
async function untilQuiet(servers: readonly Server[]): Promise<void> {
  let events = 0
  const count = (): void => {
    events += 1
  }
  for (const server of servers) server.on('connection', count).on('request', count)
  const until = performance.now() + MAX_WAIT_MS
  for (let before = -1, looks = 0; before !== events && (looks < MIN_LOOKS || performance.now() < until); looks += 1) {
    before = events
    // A whole turn, with its reading of sockets, lies between two of these.
    await nextTurn()
    await nextTurn()
  }
  for (const server of servers) server.off('connection', count).off('request', count)
}
