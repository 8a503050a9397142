import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { headOf } from '../../db/head.ts'
import type { Tables } from '../../db/tables.ts'
import type { Tail } from '../../ledger/subscriptions/tail.ts'

const ANSWER_TIMEOUT_MS = 2_000
/** A tail that is behind and has not moved for so long is stuck. With much to do it moves, if slowly. */
const STUCK_TIMEOUT_MS = 10_000

/**
 * Whether requests should be sent here: the database answers in time and the tail reads on. Load alone does not make an
 * instance unready, as taking it out would only move the load: `db` has a connection for this alone. Never rejects.
 * Anybody may ask: those who do so at the same time share an answer. `now` is in milliseconds.
 */
export function readiness(
  db: Kysely<Tables>,
  tail: Pick<Tail, 'position'>,
  now = () => performance.now(),
): () => Promise<boolean> {
  /** Where the tail stood when it was first seen behind there. */
  let behind: { readonly position: number; readonly since: number } | undefined
  const check = async (): Promise<boolean> => {
    const head = await withTimeout(ANSWER_TIMEOUT_MS, headOf(db))
    if (head === undefined) return false
    const { position } = tail
    if (position >= head) behind = undefined
    else if (behind?.position !== position) behind = { position, since: now() }
    return behind === undefined || now() - behind.since < STUCK_TIMEOUT_MS
  }
  let checking: Promise<boolean> | undefined
  return () => {
    checking ??= check().finally(() => {
      checking = undefined
    })
    return checking
  }
}

/** The answer, or undefined when there is none in time. */
async function withTimeout<T>(ms: number, answer: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController()
  // After a turn in which the event loop was busy for that long, an answer may be here that was not read yet.
  const late = sleep(ms, undefined, { signal: timer.signal, ref: false }).then(() => turn(undefined))
  try {
    return await Promise.race([answer, late])
  } catch {
    return undefined
  } finally {
    timer.abort()
  }
}
