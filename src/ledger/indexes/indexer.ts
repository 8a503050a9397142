import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { FailureLog } from '../../db/log.ts'
import type { StoredEvent } from '../storage/event-hash.ts'
import { runOnOneInstance } from '../subscriptions/followers.ts'
import type { Tail } from '../subscriptions/tail.ts'
import { BLOCK_EVENTS, INDEX_CURSOR, IndexMoved, IndexWriter } from './index-writer.ts'

interface IndexerOptions {
  /** The ledger's connection string. */
  readonly url: string
  readonly tail: Pick<Tail, 'eventsAfter' | 'pollUpTo'>
  readonly failureLog: Pick<FailureLog, 'failed' | 'succeeded'>
}

const RETRY_MS = 200

/** The subscriber that writes the index of the ledger, on one instance at a time. */
export class LedgerIndexer {
  readonly #options: IndexerOptions
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: IndexerOptions) {
    this.#options = options
  }

  start(): void {
    const { url, failureLog } = this.#options
    this.#running = runOnOneInstance(
      INDEX_CURSOR,
      {
        url,
        isStopped: () => this.#isStopped,
        pause: () => this.#pause(RETRY_MS),
        failureLog,
        source: this,
      },
      (client, isBroken, succeeded) => this.#runAsOwner(client, isBroken, succeeded),
    )
  }

  /** Waits for the statement under way. */
  async stop(): Promise<void> {
    this.#stop.abort()
    // It may be waiting for events.
    this.#options.tail.pollUpTo(Number.MAX_SAFE_INTEGER)
    await this.#running
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  async #runAsOwner(client: Client, isBroken: () => boolean, succeeded: () => void): Promise<void> {
    const writer = await IndexWriter.open(client)
    let block: StoredEvent[] = []
    try {
      const isDone = (): boolean => this.#isStopped || isBroken()
      for await (const events of this.#options.tail.eventsAfter(writer.indexed, this, succeeded, isDone)) {
        for (const event of events) {
          block.push(event)
          if (block.length < BLOCK_EVENTS) continue
          await writer.addBlock(block)
          block = []
          await writer.tidy()
        }
        succeeded()
      }
    } catch (error) {
      // The next run begins where the index is now.
      if (!(error instanceof IndexMoved)) throw error
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => {})
  }
}
