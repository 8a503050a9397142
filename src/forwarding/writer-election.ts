import { randomBytes } from 'node:crypto'
import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolder } from '../config/files.ts'
import { aborted } from '../db/async.ts'
import type { FailureLog, RecoveryLogger } from '../db/log.ts'
import type { StoredEvent } from '../ledger/storage/event-hash.ts'
import type { CommandRouter } from './command-router.ts'
import { CommandServer, type ServedConnectionOptions } from './command-server.ts'
import {
  connectToNetwork,
  connectToSocket,
  isOtherKey,
  isPathTooLong,
  listenOnNetwork,
  listenOnSocket,
  type Network,
  removeDeadSockets,
  socketPath,
} from './endpoints.ts'
import { PROTOCOL } from './messages.ts'
import { RefusedByWriter, WriterLink, type WriterLinkOptions } from './writer-link.ts'
import { type AdvertisedWriter, WriterLock } from './writer-lock.ts'

/** After a writer is lost, another is looked for this often, and after a while less often. */
const EAGER_RETRY_MS = 50
const EAGER_MS = 3_000
const RETRY_MS = 1_000
/** A writer that was lost a moment ago is not told of. */
const LASTING_MS = 1_000

export interface WriterElectionOptions {
  readonly url: string
  /** The folder of the Unix socket. */
  readonly folder: string
  /** Null: this instance neither serves nor reaches instances on other hosts. */
  readonly network: Network | null
  readonly router: CommandRouter
  /** For the commands of other instances. */
  readonly serve: Omit<ServedConnectionOptions, 'writer' | 'isWriter'>
  /** What this instance's verbs are configured with when it connects. */
  readonly settings: () => unknown
  readonly onEvents: WriterLinkOptions['onEvents']
  readonly log: RecoveryLogger
  readonly failureLog: Pick<FailureLog, 'failed' | 'succeeded'>
}

/**
 * Makes one of the instances on a ledger the writer, and lets the others send it their commands. Nothing depends on
 * it but speed: an instance that finds no writer, or is refused by it, writes itself.
 *
 * README.md describes the election.
 */
export class WriterElection {
  readonly #options: WriterElectionOptions
  readonly #writer = randomBytes(4).toString('hex')
  readonly #stop = new AbortController()
  /** Serves until the last command of another instance is answered, which is after this one was the writer. */
  #server: CommandServer | undefined
  #isWriter = false
  #running: Promise<void> = Promise.resolve()
  /** Eager until then. */
  #eagerUntil = 0
  /** Where this instance cannot listen, as was logged. */
  readonly #unusable = new Set<string>()
  /** The writer to which this instance sends nothing, although it found it. */
  #apart: { readonly writer: string; readonly since: number } | undefined
  /** Why not, as was logged. */
  readonly #reasons = new Set<string>()

  constructor(options: WriterElectionOptions) {
    this.#options = options
  }

  /** Whether this instance is the writer. */
  get isWriter(): boolean {
    return this.#isWriter
  }

  /** Instances that send their commands here. */
  get instances(): number {
    return this.#server?.instances ?? 0
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Committed here: in force on other instances before the answers that follow. */
  share(events: readonly StoredEvent[]): void {
    this.#server?.share(events.map(({ entry }) => entry))
  }

  /** Makes way for another writer, and is a candidate no longer. A link to another writer stays until `stop`. */
  async resign(): Promise<void> {
    this.#stop.abort()
    if (this.#server !== undefined) await this.#running
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#options.router.cut()
    await this.#running
  }

  async #run(): Promise<void> {
    const { failureLog } = this.#options
    while (!this.#stop.signal.aborted) {
      try {
        await using cleanUp = new AsyncDisposableStack()
        const lock = await WriterLock.connect(this.#options.url)
        cleanUp.defer(() => lock.close())
        const ledger = await lock.ledgerName()
        while (!this.#stop.signal.aborted && !lock.isLost) await this.#takePart(lock, ledger)
      } catch (error) {
        if (!this.#stop.signal.aborted) failureLog.failed(error, this)
      }
      await this.#pause()
    }
  }

  /** Becomes the writer, or follows it, until that ends. */
  async #takePart(lock: WriterLock, ledger: string): Promise<void> {
    if (await lock.tryAcquire()) {
      await this.#lead(lock, ledger)
      return
    }
    if (await lock.endSilentWriter()) {
      this.#eagerUntil = performance.now() + EAGER_MS
      await this.#pause()
      return
    }
    const writer = await lock.findWriter()
    this.#options.failureLog.succeeded(this)
    if (writer !== null && (await this.#follow(writer, lock, ledger))) {
      this.#eagerUntil = performance.now() + EAGER_MS
      return
    }
    await this.#pause()
  }

  async #lead(lock: WriterLock, ledger: string): Promise<void> {
    const { log } = this.#options
    const server = new CommandServer({
      ...this.#options.serve,
      writer: this.#writer,
      isWriter: () => lock.isFresh && !this.#stop.signal.aborted,
    })
    this.#server = server
    try {
      const { onSocket, address } = await this.#listen(server, ledger)
      if (!onSocket && address === null) {
        // Another instance may be one that the others can reach.
        await lock.release()
        await this.#pause()
        return
      }
      await lock.advertise({ writer: this.#writer, address })
      this.#options.failureLog.succeeded(this)
      this.#isWriter = true
      // Not of the first: an instance that is alone need not tell.
      if (this.#eagerUntil > 0 || this.#reasons.size > 0) {
        log.info({ writer: this.#writer }, 'this instance is the writer')
      }
      this.#reasons.clear()
      await Promise.race([lock.lost, aborted(this.#stop.signal)])
      if (!this.#stop.signal.aborted) log.info({ writer: this.#writer }, 'this instance is the writer no longer')
      // The lock first: another instance may take over while the last answers go out.
      await lock.close()
    } finally {
      this.#isWriter = false
      await server.resign()
      this.#server = undefined
    }
  }

  /** Listens where other instances can reach this one, as far as that is possible. */
  async #listen(
    server: CommandServer,
    ledger: string,
  ): Promise<{ readonly onSocket: boolean; readonly address: string | null }> {
    const { log, network, folder } = this.#options
    const path = socketPath(folder, ledger, this.#writer)
    const attempt = async (
      where: string,
      listen: (onConnection: (socket: Socket) => void) => Promise<Server>,
    ): Promise<boolean> => {
      try {
        await server.listen(listen)
        this.#unusable.delete(where)
        return true
      } catch (err) {
        if (!this.#unusable.has(where)) log.warn({ err, where }, 'cannot listen for commands of other instances')
        this.#unusable.add(where)
        return false
      }
    }
    const onSocket = await attempt(path, async (onConnection) => {
      if (isPathTooLong(path)) throw new Error('DATA_DIR is too long a path for a socket')
      makeFolder(folder, 0o700)
      await removeDeadSockets(folder, ledger)
      return await listenOnSocket(path, onConnection)
    })
    const address = network && addressOf(network)
    if (network === null || address === null) return { onSocket, address: null }
    const isListening = await attempt(address, (onConnection) => listenOnNetwork(network, onConnection))
    return { onSocket, address: isListening ? address : null }
  }

  /**
   * Sends commands to the writer until it is lost; false when it cannot be reached. Only as long as this instance sees
   * the database on which it found the writer: after a failover the writer may be on another.
   */
  async #follow({ writer, address }: AdvertisedWriter, lock: WriterLock, ledger: string): Promise<boolean> {
    const { router, serve, settings, onEvents, log, network, folder } = this.#options
    const hello = { protocol: PROTOCOL, version: serve.version, writer, settings: settings() }
    const options = { onEvents, onNotRun: router.runAgain, onAnswerLost: router.settleLost }
    const ways = [
      () => connectToSocket(socketPath(folder, ledger, writer)),
      ...(network === null || address === null ? [] : [() => connectToNetwork(address, network.key)]),
    ]
    let failure: unknown
    for (const way of ways) {
      try {
        const link = await WriterLink.connect(way(), hello, options)
        router.use(link)
        this.#apart = undefined
        this.#reasons.clear()
        log.info({ writer }, 'commands go to the writer')
        await Promise.race([link.ended, lock.lost])
        link.retire()
        return true
      } catch (error) {
        failure = error
        if (error instanceof RefusedByWriter) break
      }
    }
    this.#stayApart(writer, failure)
    return false
  }

  /** Logs why nothing goes to the writer, once while that lasts. */
  #stayApart(writer: string, err: unknown): void {
    const now = performance.now()
    if (this.#apart?.writer !== writer) this.#apart = { writer, since: now }
    const reason = reasonOf(err)
    if (this.#reasons.has(reason) || now - this.#apart.since < LASTING_MS) return
    this.#reasons.add(reason)
    this.#options.log.warn({ err, writer }, `${reason}; this instance writes itself`)
  }

  /** Waits before the next attempt, not at all once it is to stop. */
  async #pause(): Promise<void> {
    const { signal } = this.#stop
    const delay = performance.now() < this.#eagerUntil ? EAGER_RETRY_MS : RETRY_MS
    await sleep(delay, undefined, { signal }).catch(() => {})
  }
}

function reasonOf(failure: unknown): string {
  if (failure instanceof RefusedByWriter) return failure.message
  const isOther = failure instanceof Error && isOtherKey(failure.cause)
  return isOther ? 'the writer has another FORWARD_KEY' : 'the writer cannot be reached'
}

const addressOf = ({ host, port }: Network): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
