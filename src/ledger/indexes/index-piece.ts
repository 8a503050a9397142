import type { Client } from 'pg'
import { Pace } from '../../db/pace.ts'
import { BLOCK_EVENTS, baseOf, INDEX_EVENTS_SQL } from './index-rows.ts'

/** A piece ends with its block at the latest. */
const LIMITS = { min: 100, max: BLOCK_EVENTS }

export interface IndexWork {
  readonly after: number
  readonly upTo: number
  /** As that of `restMs`. */
  readonly urgency: number
}

/** How far the indexes are, and where the ledger ends. */
export interface IndexPositions {
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
