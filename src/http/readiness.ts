import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { headOf } from '../db/head.ts'
import type { Tables } from '../db/tables.ts'
import type { Tail } from '../ledger/tail.ts'

const PATIENCE_MS = 500
/** A tail that is behind and has not moved for this long does not keep up. */
const STUCK_MS = 2000

/**
 * Whether requests should be sent here: the database answers in time and the tail reads on. Never rejects. Anybody may
 * ask: those who do so at the same time share an answer.
 */
export function readiness(db: Kysely<Tables>, tail: Pick<Tail, 'position'>): () => Promise<boolean> {
  /** Where the tail stood when it was first seen behind there. */
  let behind: { readonly position: number; readonly since: number } | undefined
  const look = async (): Promise<boolean> => {
    const head = await within(PATIENCE_MS, headOf(db))
    if (head === undefined) return false
    const { position } = tail
    if (position >= head) behind = undefined
    else if (behind?.position !== position) behind = { position, since: performance.now() }
    return behind === undefined || performance.now() - behind.since < STUCK_MS
  }
  let looking: Promise<boolean> | undefined
  return () => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
}

/** The answer, or undefined when there is none in time. */
async function within<T>(ms: number, answer: Promise<T>): Promise<T | undefined> {
  const patience = new AbortController()
  const late = sleep(ms, undefined, { signal: patience.signal, ref: false })
  try {
    return await Promise.race([answer, late])
  } catch {
    return undefined
  } finally {
    patience.abort()
  }
}
