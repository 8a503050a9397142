import type { Server, Socket } from 'node:net'
import { errorCode } from '../config/error-code.ts'
import type { Command, PresentRefusal, ReceivableVerb } from '../ledger/executor/command.ts'
import type { CommandResult } from '../ledger/executor/command-queue.ts'
import type { Executor } from '../ledger/executor/executor.ts'
import { Closed, Overloaded, Unavailable } from '../ledger/executor/failures.ts'
import type { LedgerEntry } from '../ledger/storage/event-hash.ts'
import {
  type Answer,
  encodeFrame,
  encodeList,
  type FailureCode,
  FrameReader,
  type Hello,
  MAX_FRAME_BYTES,
  PROTOCOL,
  requests,
  type SentCommand,
} from './messages.ts'

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

const HELLO_TIMEOUT_MS = 1_000
const MAX_HELLO_BYTES = 16_384
/** Answers that a connection may keep for an instance that does not read; beyond it the connection is closed. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024
/** How long an instance has to take its last answers. */
const LAST_ANSWERS_TIMEOUT_MS = 2_000
/** Well below the silence after which an instance gives up a writer. */
const ALIVE_INTERVAL_MS = 200

export interface ServedConnectionOptions {
  readonly executor: Pick<Executor, 'run'>
  /** The name of this instance as a writer. */
  readonly writer: string
  readonly version: string
  /** The verbs for the configuration that an instance sends; null when it cannot be read. */
  readonly verbsFor: (settings: unknown) => ReadonlyMap<string, ReceivableVerb> | null
  readonly presentRefusal: PresentRefusal
  /** Whether this instance is still the writer: after it was suspended it may be that no longer. */
  readonly isWriter: () => boolean
}

/** The writer's end of a connection: runs the commands of another instance and answers them, many in a write. */
class ServedConnection {
  readonly #socket: Socket
  readonly #options: ServedConnectionOptions
  readonly #reader = new FrameReader(() => (this.#verbs === undefined ? MAX_HELLO_BYTES : MAX_FRAME_BYTES))
  readonly #alive: NodeJS.Timeout
  #verbs: ReadonlyMap<string, ReceivableVerb> | undefined
  #answers: string[] = []
  /** Commands that are not answered yet. */
  #running = 0
  #hasResigned = false
  #lastAnswersTimeout: NodeJS.Timeout | undefined
  readonly closed: Promise<void>

  constructor(socket: Socket, options: ServedConnectionOptions) {
    this.#socket = socket
    this.#options = options
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => this.#read(chunk))
    const helloTimeout = setTimeout(() => this.#verbs ?? socket.destroy(), HELLO_TIMEOUT_MS)
    this.#alive = setInterval(() => this.#write(encodeFrame('{"alive":true}')), ALIVE_INTERVAL_MS)
    socket.once('close', () => {
      clearTimeout(helloTimeout)
      clearInterval(this.#alive)
      clearTimeout(this.#lastAnswersTimeout)
    })
  }

  /** Whether the other end has been accepted. */
  get isWelcome(): boolean {
    return this.#verbs !== undefined
  }

  /** Sends events ahead of the answers that follow. */
  share(events: readonly LedgerEntry[]): void {
    if (this.#verbs !== undefined) this.#write(encodeFrame(JSON.stringify({ events })))
  }

  /** Takes no more commands; the other end closes the connection once it has all answers. */
  resign(): void {
    if (this.#hasResigned) return
    this.#hasResigned = true
    this.#write(encodeFrame('{"resigned":true}'))
    this.#limitLastAnswers()
  }

  /** Once nothing runs, an instance that does not take its answers is not waited for. */
  #limitLastAnswers(): void {
    if (!this.#hasResigned || this.#running > 0) return
    this.#lastAnswersTimeout ??= setTimeout(() => this.#socket.destroy(), LAST_ANSWERS_TIMEOUT_MS)
  }

  #read(chunk: Buffer): void {
    try {
      for (const message of this.#reader.read(chunk)) {
        if (!requests.Check(message)) throw new Error('not a message of this protocol')
        if ('hello' in message) this.#welcome(message.hello)
        else if (this.#verbs === undefined) throw new Error('a command before the hello')
        else for (const command of message.commands) this.#run(command, this.#verbs)
      }
    } catch {
      this.#socket.destroy()
    }
  }

  #welcome({ protocol, version, writer, settings }: Hello): void {
    const options = this.#options
    // A passing state: the caller looks for the writer again.
    if (writer !== options.writer || !options.isWriter()) throw new Error('this instance is not the writer')
    const isSameVersion = protocol === PROTOCOL && version === options.version
    const verbs = isSameVersion ? options.verbsFor(settings) : null
    if (verbs === null) {
      const refused = isSameVersion
        ? 'the writer cannot read the configuration of this instance'
        : 'the writer runs another version'
      this.#socket.end(encodeFrame(JSON.stringify({ refused })))
      return
    }
    this.#verbs = verbs
    this.#write(encodeFrame('{"welcome":true}'))
  }

  #run({ id, verb, input, cause }: SentCommand, verbs: ReadonlyMap<string, ReceivableVerb>): void {
    this.#running += 1
    if (!this.#options.isWriter()) this.resign()
    if (this.#hasResigned) {
      this.#fail(id, 'closed', 'this instance is not the writer')
      return
    }
    let command: Command | null | undefined
    try {
      command = verbs.get(verb)?.receive(input, cause, this.#options.presentRefusal)
    } catch (error) {
      this.#fail(id, 'bug', stackOf(error))
      return
    }
    if (command === undefined || command === null) {
      this.#fail(id, 'bug', `the writer does not accept this input of ${verb}`)
      return
    }
    this.#options.executor.run(command).then(
      (result) => this.#complete(id, result),
      (error: unknown) => {
        const code = failureCode(error)
        this.#fail(id, code, code === 'bug' || !(error instanceof Error) ? stackOf(error) : error.message)
      },
    )
  }

  #complete(id: number, { reply, isRepeat, storedBytes, position }: CommandResult): void {
    this.#answer({ id, reply: { status: reply.status, body: reply.body }, isRepeat, storedBytes, position })
  }

  #fail(id: number, failure: FailureCode, message: string): void {
    this.#answer({ id, failure, message })
  }

  /** Gathers the answers of a batch, which all come in one run of promise callbacks. */
  #answer(answer: Answer): void {
    if (this.#answers.length === 0) queueMicrotask(() => this.#flush())
    this.#answers.push(JSON.stringify(answer))
  }

  #flush(): void {
    const answers = this.#answers
    this.#answers = []
    this.#running -= answers.length
    this.#limitLastAnswers()
    for (const frame of encodeList('answers', answers)) this.#write(frame)
  }

  #write(frame: Buffer): void {
    if (!this.#socket.writable) return
    this.#socket.write(frame)
    if (this.#socket.writableLength > MAX_UNSENT_BYTES) this.#socket.destroy()
  }
}

function failureCode(error: unknown): FailureCode {
  if (error instanceof Overloaded) return 'overloaded'
  if (error instanceof Closed) return 'closed'
  if (!(error instanceof Unavailable)) return 'bug'
  // The database refused the connection, as it has too many: nothing was started.
  return errorCode(error.cause) === '53300' ? 'overloaded' : 'unavailable'
}

/** For the log of the other instance. */
const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))
