import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { SingleFlight } from '../../db/async.ts'
import { headOf } from '../../db/head.ts'
import type { Tables } from '../../db/tables.ts'
import type { Executor } from '../../ledger/executor/executor.ts'
import type { Tail } from '../../ledger/subscriptions/tail.ts'

const ANSWER_TIMEOUT_MS = 2_000
/** A tail that lags and has not moved for this long is stuck. Under load it moves, if slowly. */
const STUCK_TIMEOUT_MS = 10_000
/** Commands that wait for this long, while none is committed, wait for something that load does not explain. */
const MAX_STALL_MS = 3_000

/**
 * Whether requests should be sent here: the database answers in time, commands that wait are committed, and the tail
 * advances. Load alone does not make an instance unready, because taking it out would only move the load: `db` has a
 * connection of its own. Never rejects. Concurrent calls share a result. `now` is in milliseconds.
 */
export function readiness(
  db: Kysely<Tables>,
  tail: Pick<Tail, 'position'>,
  executor: Pick<Executor, 'stalledMs'>,
  now = () => performance.now(),
): () => Promise<boolean> {
  /** The tail's position when it was first seen lagging there. */
  let lagging: { readonly position: number; readonly since: number } | undefined
  const check = async (): Promise<boolean> => {
    const head = await withTimeout(ANSWER_TIMEOUT_MS, headOf(db))
    if (head === undefined || executor.stalledMs >= MAX_STALL_MS) return false
    const { position } = tail
    if (position >= head) lagging = undefined
    else if (lagging?.position !== position) lagging = { position, since: now() }
    return lagging === undefined || now() - lagging.since < STUCK_TIMEOUT_MS
  }
  const checking = new SingleFlight(check)
  return () => checking.run()
}

/** The answer, or undefined when it fails or is late. */
async function withTimeout<T>(ms: number, answer: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController()
  // After a turn in which the event loop was busy for that long, an answer may have arrived and not been read yet.
  const late = sleep(ms, undefined, { signal: timer.signal, ref: false }).then(() => turn(undefined))
  try {
    return await Promise.race([answer, late])
  } catch {
    return undefined
  } finally {
    timer.abort()
  }
}
