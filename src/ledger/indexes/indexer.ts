import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { FailureLog } from '../../db/log.ts'
import { Pace } from '../../db/pace.ts'
import { runOnOneInstance } from '../subscriptions/followers.ts'
import { MAX_UNINDEXED_EVENTS } from './index-reads.ts'
import { BLOCK_EVENTS, baseOf, INDEX_CURSOR, INDEX_EVENTS_SQL } from './index-rows.ts'

interface IndexerOptions {
  /** The ledger's connection string. */
  readonly url: string
  readonly failureLog: Pick<FailureLog, 'failed' | 'succeeded'>
  readonly pollMs?: number
}

/** Each write is a commit that competes with the ledger's: the few last events wait, as readers search for them anyway. */
const DEFAULT_POLL_MS = 250
const FEW_EVENTS = 100
const RETRY_MS = 200

/** Nothing may be left that reads do not search: it rests the less the nearer that is, and half way no more. */
export const indexUrgency = (left: number): number => Math.min(1, (2 * left) / MAX_UNINDEXED_EVENTS)

/**
 * The subscriber that writes `account_index` and `event_index`, block by block, on one instance at a time. Rows and
 * cursor are written by one statement: whenever it is killed, they belong together. It gives way to commands as long as it
 * keeps up with them.
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
    await this.#running
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  async #runAsOwner(client: Client, isBroken: () => boolean, succeeded: () => void): Promise<void> {
    await client.query(`insert into ledger_cursors (name, position) values ($1, 0) on conflict do nothing`, [
      INDEX_CURSOR,
    ])
    const pace = indexPace()
    let { indexed, head } = await readPositions(client)
    while (!this.#isStopped && !isBroken()) {
      if (indexed < head) {
        const work = { after: indexed, upTo: head, urgency: indexUrgency(head - indexed) }
        ;({ indexed, head } = (await indexPiece(client, pace, work)) ?? (await readPositions(client)))
      }
      if (head - indexed >= FEW_EVENTS) continue
      succeeded()
      await this.#pause(this.#options.pollMs ?? DEFAULT_POLL_MS)
      // Also reads the cursor again, which a rebuild may have moved.
      ;({ indexed, head } = await readPositions(client))
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => {})
  }
}

async function readPositions(client: Client): Promise<IndexPositions> {
  const { rows } = await client.query<{ indexed: string; head: string }>(
    `select c.position as indexed, h.position as head from ledger_cursors c, ledger_head h where c.name = $1`,
    [INDEX_CURSOR],
  )
  const [row] = rows
  if (row === undefined) throw new Error('the cursor of the indexes is missing')
  return { indexed: Number(row.indexed), head: Number(row.head) }
}

/** A piece ends with its block at the latest. */
const LIMITS = { min: 100, max: BLOCK_EVENTS }

interface IndexWork {
  readonly after: number
  readonly upTo: number
  /** As that of `restMs`. */
  readonly urgency: number
}

/** How far the indexes are, and where the ledger ends. */
interface IndexPositions {
  readonly indexed: number
  readonly head: number
}

/**
 * Indexes the first piece of the events after one position and up to another, and rests. Answers null, with nothing
 * written, when the cursor is elsewhere.
 */
export async function indexPiece(
  client: Client,
  pace: Pace,
  { after, upTo, urgency }: IndexWork,
): Promise<IndexPositions | null> {
  const end = Math.min(upTo, baseOf(after + 1) + BLOCK_EVENTS, after + pace.events(urgency))
  pace.start()
  const { rows } = await client.query<{ head: string }>({
    name: 'index events',
    text: INDEX_EVENTS_SQL,
    values: [after, end],
  })
  const [row] = rows
  if (row === undefined) return null
  const head = Number(row.head)
  pace.look(head)
  await pace.afterPiece(end - after, urgency)
  return { indexed: end, head }
}

export const indexPace = (): Pace => new Pace(LIMITS)
