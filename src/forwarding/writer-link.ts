import type { Socket } from 'node:net'
import { loopTimeout } from '../db/async.ts'
import type { Command } from '../ledger/executor/command.ts'
import { type CommandResult, StallWatch } from '../ledger/executor/command-queue.ts'
import { Overloaded, Unavailable } from '../ledger/executor/failures.ts'
import type { LedgerEntry } from '../ledger/storage/event-hash.ts'
import { type Answer, encodeFrame, encodeList, FrameReader, type Hello, type Response, responses } from './messages.ts'

/** A writer that does not welcome within this time counts as hanging. */
const WELCOME_TIMEOUT_MS = 500
/** A writer sends something five times in this time; one that does not counts as hanging. */
const MAX_SILENCE_MS = 1_000
const SILENCE_CHECK_MS = 100
/**
 * A writer that has resigned and answers nothing for so long has lost its database. Below the time after which readiness
 * counts commands as stalled.
 */
const MAX_LAST_ANSWERS_MS = 2_000
/** Commands that may wait for their answers, and the length of their JSON. */
const MAX_OUTSTANDING = 16_384
const MAX_OUTSTANDING_LENGTH = 64 * 1024 * 1024

/** A command whose caller waits for its result. */
export interface ForwardedCommand {
  readonly command: Command
  readonly resolve: (result: CommandResult | Promise<CommandResult>) => void
  readonly reject: (error: Error) => void
}

interface Outstanding extends ForwardedCommand {
  readonly length: number
}

export interface WriterLinkOptions {
  /** Committed events, before the answers of their commands. */
  readonly onEvents: (events: readonly LedgerEntry[]) => void
  /** A command that the writer has not run, and never will. */
  readonly onNotRun: (forwarded: ForwardedCommand) => void
  /** A command that the writer may have run or not: its answer was lost. */
  readonly onAnswerLost: (forwarded: ForwardedCommand) => void
}

/** The writer cannot serve this instance, as its message says. */
export class RefusedByWriter extends Error {}

/** An instance's end of a connection to the writer: sends commands, many in a write, and waits for their answers. */
export class WriterLink {
  readonly #socket: Socket
  readonly #options: WriterLinkOptions
  readonly #reader = new FrameReader()
  readonly #outstanding = new Map<number, Outstanding>()
  readonly #waiters: { readonly id: number; readonly resolve: () => void }[] = []
  readonly #silence: NodeJS.Timeout
  #queued: string[] = []
  /** The first command that is not on the wire yet. */
  #firstUnsent = 1
  #lastId = 0
  #length = 0
  #heardAt = performance.now()
  readonly #stall = new StallWatch()
  #isReady = false
  #hasEnded = false
  #error: Error | undefined
  readonly #welcome = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()
  /** Resolves when the connection is over and each of its commands has been answered or given back. */
  readonly closed: Promise<void>

  private constructor(socket: Socket, options: WriterLinkOptions) {
    this.#socket = socket
    this.#options = options
    socket.setNoDelay(true)
    socket.on('error', (error) => {
      this.#error = error
      socket.destroy()
    })
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('end', () => socket.destroy())
    this.#silence = setInterval(() => this.#checkSilence(), SILENCE_CHECK_MS)
    this.closed = new Promise((resolve) =>
      socket.once('close', () => {
        this.#close()
        resolve()
      }),
    )
  }

  /** Says hello on a connection that is being opened. Rejects with `RefusedByWriter`, or when the writer cannot be reached. */
  static async connect(socket: Socket, hello: Hello, options: WriterLinkOptions): Promise<WriterLink> {
    const link = new WriterLink(socket, options)
    socket.write(encodeFrame(JSON.stringify({ hello })))
    const cancel = loopTimeout(() => socket.destroy(new Error('it does not answer')), WELCOME_TIMEOUT_MS)
    try {
      await link.#welcome.promise
      return link
    } finally {
      cancel()
    }
  }

  /** Whether it takes commands. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Resolves when it takes no more commands; answers may still arrive. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** As `Executor.stalledMs`, of the commands that were sent. */
  get stalledMs(): number {
    return this.#stall.stalledMs
  }

  /** Sends a command together with all others of this turn of the event loop. */
  run(command: Command): Promise<CommandResult> {
    const { call, cause } = command
    const id = this.#lastId + 1
    const text = JSON.stringify({ id, verb: call?.verb, input: call?.input, cause })
    if (this.#outstanding.size >= MAX_OUTSTANDING || this.#length + text.length > MAX_OUTSTANDING_LENGTH) {
      return Promise.reject(new Overloaded('too many commands wait for the writer'))
    }
    this.#stall.waiting()
    this.#lastId = id
    this.#length += text.length
    if (this.#queued.length === 0) setImmediate(() => this.#flush())
    this.#queued.push(text)
    return new Promise((resolve, reject) => {
      this.#outstanding.set(id, { command, resolve, reject, length: text.length })
    })
  }

  /** Resolves once all commands sent until now are answered or given back. */
  waitForAnswers(): Promise<void> {
    if (this.#outstanding.size === 0) return Promise.resolve()
    const id = this.#lastId
    return new Promise((resolve) => this.#waiters.push({ id, resolve }))
  }

  /** Takes no more commands; the connection is closed after the last answer. */
  retire(): void {
    this.#end()
    if (this.#outstanding.size === 0) this.#socket.end()
  }

  /** Drops the connection. */
  cut(): void {
    this.#socket.destroy()
  }

  #flush(): void {
    const texts = this.#queued
    this.#queued = []
    this.#firstUnsent = this.#lastId + 1
    for (const frame of encodeList('commands', texts)) this.#socket.write(frame)
  }

  #read(chunk: Buffer): void {
    this.#heardAt = performance.now()
    try {
      for (const message of this.#reader.read(chunk)) {
        if (!responses.Check(message)) throw new Error('not a message of this protocol')
        this.#receive(message)
      }
    } catch {
      this.#socket.destroy()
    }
  }

  #receive(message: Response): void {
    if ('answers' in message) {
      for (const answer of message.answers) this.#settle(answer)
      this.#resolveWaiters()
    } else if ('events' in message) {
      this.#options.onEvents(message.events)
    } else if ('welcome' in message) {
      this.#isReady = true
      this.#welcome.resolve()
    } else if ('refused' in message) {
      this.#welcome.reject(new RefusedByWriter(message.refused))
    } else if ('resigned' in message) {
      this.#end()
    }
    if (this.#hasEnded && this.#outstanding.size === 0) this.#socket.end()
  }

  #settle(answer: Answer): void {
    const outstanding = this.#outstanding.get(answer.id)
    if (outstanding === undefined) throw new Error(`an answer to no command: ${answer.id}`)
    this.#outstanding.delete(answer.id)
    this.#length -= outstanding.length
    const othersWait = this.#outstanding.size > 0
    if (!('failure' in answer) || answer.failure === 'bug') this.#stall.progressed(othersWait)
    else if (!othersWait) this.#stall.failed()
    if (!('failure' in answer)) outstanding.resolve(answer)
    else if (answer.failure === 'closed') {
      this.#end()
      this.#options.onNotRun(outstanding)
    } else if (answer.failure === 'overloaded') outstanding.reject(new Overloaded(answer.message))
    else if (answer.failure === 'unavailable') outstanding.reject(new Unavailable(answer.message))
    else outstanding.reject(new Error(`the command failed on the writer: ${answer.message}`))
  }

  #resolveWaiters(): void {
    const [oldest = Number.POSITIVE_INFINITY] = this.#outstanding.keys()
    while (this.#waiters[0] !== undefined && this.#waiters[0].id < oldest) this.#waiters.shift()?.resolve()
  }

  #checkSilence(): void {
    if (this.#hasEnded && this.#stall.stalledMs > MAX_LAST_ANSWERS_MS) {
      this.#socket.destroy()
      return
    }
    if (performance.now() - this.#heardAt < MAX_SILENCE_MS) return
    // This process may have been suspended itself: what has arrived meanwhile is read first.
    setImmediate(() => {
      if (performance.now() - this.#heardAt >= MAX_SILENCE_MS) this.#socket.destroy()
    })
  }

  /** Takes no more commands; closes the connection after the last answer. */
  #end(): void {
    this.#isReady = false
    this.#hasEnded = true
    this.#ended.resolve()
  }

  #close(): void {
    this.#end()
    clearInterval(this.#silence)
    this.#welcome.reject(new Error('the writer cannot be reached', { cause: this.#error }))
    const given = [...this.#outstanding]
    this.#outstanding.clear()
    for (const [id, outstanding] of given) {
      if (id >= this.#firstUnsent) this.#options.onNotRun(outstanding)
      else this.#options.onAnswerLost(outstanding)
    }
    this.#resolveWaiters()
  }
}
