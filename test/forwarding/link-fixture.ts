import type { Server, Socket } from 'node:net'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { type CatchUp, CommandRouter } from '../../src/forwarding/command-router.ts'
import { CommandServer } from '../../src/forwarding/command-server.ts'
import { connectToSocket, listenOnSocket } from '../../src/forwarding/endpoints.ts'
import { PROTOCOL } from '../../src/forwarding/messages.ts'
import { WriterLink } from '../../src/forwarding/writer-link.ts'
import {
  type Cause,
  type Command,
  inputSchema,
  type PresentRefusal,
  type ReceivableVerb,
  registerVerb,
} from '../../src/ledger/executor/command.ts'
import type { CommandResult } from '../../src/ledger/executor/command-queue.ts'
import type { Executor } from '../../src/ledger/executor/executor.ts'
import type { LedgerEntry } from '../../src/ledger/storage/event-hash.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import type { Scope } from '../harness/scope.ts'

/** A verb that reads and writes nothing. */
export const echo = registerVerb<{ readonly count: number }, number>(
  'echo',
  inputSchema(Type.Object({ count: Type.Integer({ minimum: 1 }) })),
  { refusals: [], reads: () => [], decide: () => [], result: (_state, { count }) => count },
)

export const presentRefusal: PresentRefusal = ({ refusal }, { requestId, language }) => ({
  status: 422,
  body: JSON.stringify({ refusal, requestId, language }),
})

let requests = 0
export const causeWith = (key: string | null): Cause => ({
  actor: 'user:1',
  requestId: `r${(requests += 1)}`,
  idempotency: key === null ? null : { key, requestHash: 'h' },
})

export const echoCommand = (count: number, key: string | null = null): Command =>
  echo.command({ count }, causeWith(key), presentRefusal)

export type Runs = Pick<Executor, 'run' | 'waitForInFlight' | 'stalledMs'>

/** An executor that answers with what `result` makes of a command. */
export const executorOf = (result: (command: Command) => Promise<CommandResult>): Runs => ({
  run: result,
  waitForInFlight: async () => {},
  stalledMs: 0,
})

export const resultOf = (command: Command, position = 1): CommandResult => ({
  reply: { status: 200, body: JSON.stringify(command.call) },
  isRepeat: false,
  storedBytes: 0,
  position,
})

interface Link {
  readonly router: CommandRouter
  readonly link: WriterLink
  readonly server: CommandServer
  /** The server's ends of all connections. */
  readonly sockets: readonly Socket[]
  /** Events that the writer has shared. */
  readonly events: LedgerEntry[]
}

interface LinkOptions {
  readonly verbs?: readonly ReceivableVerb[]
  readonly version?: string
  readonly writer?: string
  readonly isWriter?: () => boolean
  readonly listen?: (onConnection: (socket: Socket) => void) => Promise<Server>
  readonly connect?: () => Socket
  readonly catchUp?: CatchUp
}

export const socketFile = (t: Scope): string => join(temporaryFolder(t), 'writer.sock')

/** A writer with one executor, and an instance with another that is linked to it. */
export async function openLink(t: Scope, writers: Runs, own: Runs, options: LinkOptions = {}): Promise<Link> {
  const { verbs = [echo], version = 'v', writer = 'w', isWriter = () => true } = options
  const path = socketFile(t)
  const sockets: Socket[] = []
  const server = new CommandServer({
    executor: writers,
    writer: 'w',
    version: 'v',
    verbsFor: (settings) => (settings === 'unreadable' ? null : new Map(verbs.map((verb) => [verb.name, verb]))),
    presentRefusal,
    isWriter,
  })
  const { listen = (onConnection) => listenOnSocket(path, onConnection) } = options
  await server.listen((onConnection) =>
    listen((socket) => {
      sockets.push(socket)
      onConnection(socket)
    }),
  )
  const router = new CommandRouter(own, options.catchUp ?? (async () => true))
  t.teardown(() => router.cut())
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await server.resign()
  })
  const events: LedgerEntry[] = []
  const { connect = () => connectToSocket(path) } = options
  const hello = { protocol: PROTOCOL, version, writer, settings: null }
  const open = () =>
    WriterLink.connect(connect(), hello, {
      onEvents: (shared) => events.push(...shared),
      onNotRun: router.runAgain,
      onAnswerLost: router.settleLost,
    })
  // On a busy machine the welcome may come after half a second, when it is no longer waited for.
  const link = await open().catch(open).catch(open).catch(open)
  router.use(link)
  return { router, link, server, sockets, events }
}
