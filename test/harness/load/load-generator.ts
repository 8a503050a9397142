import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { contentLengthOf, readHead } from '../http/response.ts'
import { clock } from './clock.ts'
import { percentile, Samples } from './percentiles.ts'

/** More than an answer has, so that nearly every answer is read in one piece. */
const BUFFER_BYTES = 16_384
/** The start of a closed loop, when connections and caches are new; of a short loop a quarter of its time. */
const MAX_UNMEASURED_MS = 300

/** Where requests go. */
export interface Target {
  /** One server's, or those of several among which the connections are divided evenly. */
  readonly ports: readonly number[]
  readonly connections: number
  /** Another address of this machine to connect from. */
  readonly localAddress?: string
  /** Which statuses are answers; any other one ends the load with an error. Default: 200. */
  readonly accepts?: (status: number) => boolean
}

/** What a load measured; latencies in milliseconds. */
interface Measured {
  /** All answered requests, including those outside the measured time. */
  readonly answered: number
  /** The number of those answers by status. */
  readonly statuses: Readonly<Record<string, number>>
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

type Next = () => Buffer

/**
 * The load generator of tests, attack run and benches: sends prepared requests on kept-alive connections, one request at a
 * time on each, and reads only status and length of the answers, so that it costs little next to the service.
 */
export class LoadGenerator {
  readonly #connections: readonly Connection[]
  readonly #failure: PromiseWithResolvers<never>
  #onAnswer: (connection: Connection) => void = () => {}

  private constructor({ ports, connections, localAddress, accepts = (status) => status === 200 }: Target) {
    this.#failure = Promise.withResolvers()
    // It is reported by the load that runs, or by the next one.
    this.#failure.promise.catch(() => {})
    const listener: Listener = {
      accepts,
      answered: (connection) => this.#onAnswer(connection),
      failed: (error) => this.#failure.reject(error),
    }
    this.#connections = Array.from(
      { length: connections },
      (_, i) => new Connection(ports[i % ports.length] ?? 0, localAddress, listener),
    )
  }

  /** Resolves when all connections are open. */
  static async open(target: Target): Promise<LoadGenerator> {
    const generator = new LoadGenerator(target)
    try {
      await generator.#orFailure(Promise.all(generator.#connections.map((connection) => connection.open())))
    } catch (error) {
      generator.close()
      throw error
    }
    return generator
  }

  /** Opens connections for one load, and closes them after it. */
  static async run(target: Target, load: (generator: LoadGenerator) => Promise<Measured>): Promise<Measured> {
    const generator = await LoadGenerator.open(target)
    try {
      return await load(generator)
    } finally {
      generator.close()
    }
  }

  /** Each connection sends its next request when the last one is answered. */
  async closed(seconds: number, next: Next): Promise<Measured> {
    const done = Promise.withResolvers<void>()
    const answers = new Answers()
    const from = clock() + Math.min(MAX_UNMEASURED_MS, seconds * 250)
    const until = from + seconds * 1000
    let busy = this.#connections.length
    this.#onAnswer = (connection) => {
      const now = clock()
      answers.add(connection, now >= from && now < until ? now : null)
      if (now < until) return connection.send(next(), now)
      busy -= 1
      if (busy === 0) done.resolve()
    }
    for (const connection of this.#connections) connection.send(next(), clock())
    await this.#orFailure(done.promise)
    return answers.measured((measured) => measured / seconds)
  }

  /**
   * So many requests a second at even intervals, whether earlier ones are answered or not. Latency counts from the time when
   * a request was due, so that it includes the wait for a connection while answers are slow.
   */
  async paced(perSecond: number, seconds: number, next: Next): Promise<Measured> {
    const count = Math.round(perSecond * seconds)
    const done = Promise.withResolvers<void>()
    const answers = new Answers()
    const idle = [...this.#connections]
    /** When the requests that wait for a connection were due. */
    const waiting: number[] = []
    const dispatch = (): void => {
      while (idle.length > 0) {
        const due = waiting.shift()
        if (due === undefined) return
        idle.pop()?.send(next(), due)
      }
    }
    this.#onAnswer = (connection) => {
      answers.add(connection, clock())
      idle.push(connection)
      if (answers.count === count) done.resolve()
      else dispatch()
    }
    const pacer = new Worker(new URL('./pacer.ts', import.meta.url), { workerData: { perSecond, count } })
    pacer.on('error', done.reject)
    pacer.on('message', (due: number) => {
      waiting.push(due)
      dispatch()
    })
    try {
      await this.#orFailure(done.promise)
    } finally {
      await pacer.terminate()
    }
    return answers.measured(() => perSecond)
  }

  /** So many requests, as many at a time as there are connections. */
  async send(count: number, request: (i: number) => Buffer): Promise<Measured> {
    const done = Promise.withResolvers<void>()
    const answers = new Answers()
    const started = clock()
    let sent = 0
    const next = (connection: Connection): void => {
      if (sent < count) connection.send(request(sent++), clock())
    }
    this.#onAnswer = (connection) => {
      answers.add(connection, clock())
      if (answers.count === count) done.resolve()
      else next(connection)
    }
    for (const connection of this.#connections) next(connection)
    await this.#orFailure(done.promise)
    return answers.measured((measured) => (measured * 1000) / (clock() - started))
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }

  #orFailure<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#failure.promise])
  }
}

/** The answers to one load. */
class Answers {
  readonly #latencies = new Samples()
  readonly #statuses = new Map<number, number>()
  count = 0

  /** `measuredAt`: null for an answer outside of the measured time. */
  add({ status, startedAt }: Connection, measuredAt: number | null): void {
    this.count += 1
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    if (measuredAt !== null) this.#latencies.add(measuredAt - startedAt)
  }

  measured(perSecond: (measured: number) => number): Measured {
    const sorted = this.#latencies.sorted()
    return {
      answered: this.count,
      statuses: Object.fromEntries(this.#statuses),
      perSecond: perSecond(sorted.length),
      p50: percentile(sorted, 50),
      p99: percentile(sorted, 99),
      max: percentile(sorted, 100),
    }
  }
}

interface Listener {
  readonly accepts: (status: number) => boolean
  readonly answered: (connection: Connection) => void
  readonly failed: (error: Error) => void
}

/** A kept-alive connection. One that the server closed between two requests is opened again. */
class Connection {
  /** When the current request was sent, or should have been sent, by `clock`. */
  startedAt = 0
  /** The status of the last answer. */
  status = 0
  readonly #port: number
  readonly #localAddress: string | undefined
  readonly #listener: Listener
  #socket: Socket | null = null
  #isPending = false
  #isLast = false
  /** The first part of a head that is not complete yet. */
  #rest: Buffer | null = null
  /** Bytes of the current answer that have not come yet. */
  #missing = 0

  constructor(port: number, localAddress: string | undefined, listener: Listener) {
    this.#port = port
    this.#localAddress = localAddress
    this.#listener = listener
  }

  open(): Promise<void> {
    const socket = this.#connect()
    this.#socket = socket
    return new Promise((resolve) => socket.once('connect', () => resolve()))
  }

  send(request: Buffer, startedAt: number): void {
    this.startedAt = startedAt
    this.#isPending = true
    this.#socket ??= this.#connect()
    this.#socket.write(request)
  }

  close(): void {
    this.#isPending = false
    this.#socket?.destroy()
  }

  #drop(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  #connect(): Socket {
    const socket = connect({
      host: '127.0.0.1',
      port: this.#port,
      noDelay: true,
      ...(this.#localAddress !== undefined && { localAddress: this.#localAddress }),
      onread: {
        buffer: Buffer.allocUnsafe(BUFFER_BYTES),
        callback: (count, buffer) => {
          try {
            this.#read(Buffer.from(buffer.buffer, buffer.byteOffset, count))
          } catch (error) {
            this.#listener.failed(error instanceof Error ? error : new Error(String(error)))
          }
          return true
        },
      },
    })
    socket.on('error', (error) => this.#listener.failed(error))
    socket.on('end', () => {
      if (this.#isPending) this.#listener.failed(new Error('the server closed a connection instead of answering'))
      else if (this.#socket === socket) this.#socket = null
    })
    return socket
  }

  #read(piece: Buffer): void {
    if (this.#missing > 0) {
      this.#missing -= piece.length
    } else {
      const bytes = this.#rest === null ? piece : Buffer.concat([this.#rest, piece])
      const head = readHead(bytes)
      this.#rest = head === null ? Buffer.from(bytes) : null
      if (head === null) return
      // A server gives up a connection on which nothing was asked for long.
      if (head.status === 408 && !this.#isPending) return this.#drop()
      const length = contentLengthOf(head)
      if (length === null) throw new Error(`an answer without a length: ${head.text}`)
      this.status = head.status
      if (!this.#listener.accepts(head.status))
        throw new Error(`answered ${head.status}: ${bytes.toString('utf8', head.bodyStart)}`)
      this.#isLast = head.status >= 400 && /\r\nconnection: close/i.test(head.text)
      this.#missing = head.bodyStart + length - bytes.length
    }
    if (this.#missing < 0 || !this.#isPending) throw new Error('received more than one answer to a request')
    if (this.#missing > 0) return
    this.#isPending = false
    if (this.#isLast) this.#drop()
    this.#listener.answered(this)
  }
}
