import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { errorCode } from '../config/error-code.ts'
import { assertOwnSession, connect } from '../db/connect.ts'
import type { AuditDatabase } from './database.ts'

/** How long a report waits for the standby to replay what the primary has. */
const MAX_WAIT_MS = 5_000
const POLL_INTERVAL_MS = 100

interface Heads {
  readonly position: string
  /** Of the event at the position that was asked for; null when there is none. */
  readonly hash: string | null
}

/**
 * The address of the database that all of a report is read from: the standby, once it has the last event that the
 * primary has now, else the primary. Then `warn` gets the reason. Throws when the primary cannot be reached or `signal`
 * is aborted.
 */
export async function chooseReportUrl(
  { url, standbyUrl }: Pick<AuditDatabase, 'url' | 'standbyUrl'>,
  signal: AbortSignal,
  warn: (message: string) => void,
): Promise<string> {
  if (standbyUrl === null) return url
  const primary = await withClient(url, (client) => headsOf(client, null))
  let reason: string | null
  try {
    await assertOwnSession(standbyUrl, NAME)
    reason = await withClient(standbyUrl, (client) => replay(client, primary, signal))
  } catch (error) {
    signal.throwIfAborted()
    reason = error instanceof Error && error.message !== '' ? error.message : (errorCode(error) ?? 'unknown error')
  }
  if (reason === null) return standbyUrl
  warn(`reading DATABASE_URL instead of DATABASE_READ_URL: ${reason}`)
  return url
}

const NAME = 'audit'

/** Waits until a standby has an event of the primary. Answers why it cannot be read, or null. */
async function replay(standby: Client, primary: Heads, signal: AbortSignal): Promise<string | null> {
  const deadline = performance.now() + MAX_WAIT_MS
  for (;;) {
    const { position, hash } = await headsOf(standby, primary.position)
    if (BigInt(position) >= BigInt(primary.position)) return hash === primary.hash ? null : 'it holds another ledger'
    if (performance.now() > deadline) return `it is at position ${position}, behind ${primary.position}`
    await sleep(POLL_INTERVAL_MS, undefined, { signal })
  }
}

/** Where the ledger ends, and the hash at `position`; null for that of the end. */
async function headsOf(client: Client, position: string | null): Promise<Heads> {
  const { rows } = await client.query<Heads>(
    `select h.position::text as position, e.hash::text as hash
       from ledger_head h left join ledger_events e on e.position = coalesce($1::bigint, h.position)`,
    [position],
  )
  const [heads] = rows
  if (heads === undefined) throw new Error('the ledger has no head')
  return heads
}

async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = await connect(url, NAME)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
