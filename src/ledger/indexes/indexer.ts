import { type Client, escapeIdentifier, type Notification } from 'pg'
import { channelName } from '../../db/ledger-url.ts'
import type { FailureLog } from '../../db/log.ts'
import { parsePacked, unpackId, unpackMovements } from '../storage/packed-columns.ts'
import { assertKnown } from '../storage/stored-event.ts'
import { runOnOneInstance } from '../subscriptions/followers.ts'
import { BLOCK_EVENTS, INDEX_CURSOR, IndexMoved, IndexWriter, type PlacedEvent } from './index-writer.ts'

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
 * the process that commits: instances notify each other of commits, and polling finds what no notification told.
 */
export class LedgerIndexer {
  readonly #options: IndexerOptions
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined
  /** The end of the ledger, as far as it was told. */
  #head = 0
  #wake = (): void => {}

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
        pause: () => this.#untilWoken(RETRY_MS),
        failureLog,
        source: this,
      },
      (client, isBroken, succeeded) => this.#runAsOwner(client, isBroken, succeeded),
    )
  }

  /** Waits for the statement under way. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wake()
    await this.#running
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  async #runAsOwner(client: Client, isBroken: () => boolean, succeeded: () => void): Promise<void> {
    const { url, pollMs = DEFAULT_POLL_MS } = this.#options
    const writer = await IndexWriter.open(client)
    const isBlockDue = (): boolean => this.#head >= writer.indexed + BLOCK_EVENTS
    const onNotification = ({ payload }: Notification): void => {
      this.#head = Math.max(this.#head, Number(payload))
      if (isBlockDue()) this.#wake()
    }
    client.on('notification', onNotification)
    await client.query(`listen ${escapeIdentifier(channelName(url, 'ledger'))}`)
    try {
      while (!this.#isStopped && !isBroken()) {
        this.#head = await readHead(client)
        while (isBlockDue() && !this.#isStopped && !isBroken()) {
          await writer.addBlock(await readBlock(client, writer.indexed))
          await writer.tidy()
        }
        succeeded()
        if (!isBlockDue()) await this.#untilWoken(pollMs)
      }
    } catch (error) {
      // The next run begins where the index is now.
      if (!(error instanceof IndexMoved)) throw error
    } finally {
      client.off('notification', onNotification)
    }
  }

  #untilWoken(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#isStopped ? 0 : ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

interface PackedRow {
  readonly position: string
  readonly type: string
  readonly version: number
  readonly data: string
  readonly movements: string
  readonly actor: string
  readonly request_id: Buffer
  readonly idempotency_key: Buffer | null
}

/** The events after a position, as many as a block has, with what the index needs of them. */
async function readBlock(client: Client, after: number): Promise<readonly PlacedEvent[]> {
  const { rows } = await client.query<PackedRow>({
    name: 'read block',
    text: `select position, type, version, data, movements, actor, request_id, idempotency_key
           from ledger_events where position > $1 and position <= $1 + ${BLOCK_EVENTS} order by position`,
    values: [after],
  })
  return rows.map(({ type, version, actor, request_id, idempotency_key, ...row }): PlacedEvent => {
    const position = Number(row.position)
    assertKnown(position, type, version)
    return {
      position,
      type,
      data: Object(parsePacked(type, version, row.data)),
      movements: unpackMovements(row.movements),
      entry: {
        type,
        version,
        actor,
        requestId: unpackId(request_id),
        idempotencyKey: idempotency_key === null ? null : unpackId(idempotency_key),
      },
    }
  })
}

async function readHead(client: Client): Promise<number> {
  const { rows } = await client.query<{ position: string }>({
    name: 'read head position',
    text: 'select position from ledger_head',
  })
  return Number(rows[0]?.position ?? 0)
}
