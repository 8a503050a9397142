import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, escapeIdentifier, type Notification } from 'pg'
import { channelName } from '../../db/ledger-url.ts'
import type { FailureLog } from '../../db/log.ts'
import { eventsAfter } from '../storage/stored-event.ts'
import { runOnOneInstance } from '../subscriptions/followers.ts'
import { BLOCK_EVENTS, INDEX_CURSOR, IndexMoved, IndexWriter } from './index-writer.ts'

interface IndexerOptions {
  /** The ledger's connection string. */
  readonly url: string
  readonly failureLog: Pick<FailureLog, 'failed' | 'succeeded'>
  readonly pollMs?: number
}

const DEFAULT_POLL_MS = 250
const RETRY_MS = 200

/**
 * Writes the index of the ledger, on one instance at a time. It reads whole blocks from the database and needs nothing of
 * the process that commits: instances notify each other of commits, and polling finds what no notification said.
 */
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
        isStopped: () => this.#stop.signal.aborted,
        pause: () => pause(RETRY_MS, this.#stop.signal),
        failureLog,
        source: this,
      },
      (client, isBroken, succeeded) => this.#runAsOwner(client, isBroken, succeeded),
    )
  }

  /** Waits for the statement under way. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #runAsOwner(client: Client, isBroken: () => boolean, succeeded: () => void): Promise<void> {
    const { url, pollMs = DEFAULT_POLL_MS } = this.#options
    const { signal } = this.#stop
    const isDone = (): boolean => signal.aborted || isBroken()
    const writer = await IndexWriter.open(client)
    let woken = new AbortController()
    const onNotification = ({ payload }: Notification): void => {
      if (Number(payload) >= writer.indexed + BLOCK_EVENTS) woken.abort()
    }
    client.on('notification', onNotification)
    await client.query(`listen ${escapeIdentifier(channelName(url, 'ledger'))}`)
    try {
      while (!isDone()) {
        woken = new AbortController()
        for (let head = await readHead(client); head >= writer.indexed + BLOCK_EVENTS && !isDone(); ) {
          await writer.addBlock(await eventsAfter(client, writer.indexed, BLOCK_EVENTS))
          await writer.tidy()
        }
        succeeded()
        await pause(pollMs, AbortSignal.any([signal, woken.signal]))
      }
    } catch (error) {
      // The next run begins where the index is now.
      if (!(error instanceof IndexMoved)) throw error
    } finally {
      client.off('notification', onNotification)
    }
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {})

async function readHead(client: Client): Promise<number> {
  const { rows } = await client.query<{ position: string }>({
    name: 'read head position',
    text: 'select position from ledger_head',
  })
  return Number(rows[0]?.position ?? 0)
}
