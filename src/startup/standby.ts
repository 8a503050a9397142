import type { Kysely } from 'kysely'
import { isConnectionError } from '../db/connection-errors.ts'
import { headOf } from '../db/head.ts'
import type { Log } from '../db/log.ts'
import { keyedReadSettings, openPool, readPool } from '../db/pool.ts'
import { isUndefinedInSchema } from '../db/postgres-errors.ts'
import { queryBuilder } from '../db/queries/query-builder.ts'
import { openReportDatabase } from '../db/queries/report-database.ts'
import { assertOwnSession, SharedSession } from '../db/session/assert-own-session.ts'
import type { Tables } from '../db/tables.ts'
import type { ReadDatabase } from '../http/reads/standby.ts'

/** The standby of DATABASE_READ_URL. */
export interface ReadStandby extends ReadDatabase {
  readonly url: string
  /** Where its ledger ends. Rejects while it cannot be read, and unless it is a standby of this ledger. */
  head(): Promise<number>
}

/** A database holds another ledger than the primary. */
export class ForeignLedger extends Error {
  override readonly name = 'ForeignLedger'

  constructor() {
    super('it holds another ledger than DATABASE_URL; give the address of a standby of that database')
  }
}

/** How long a database that must not be read is left alone. */
const REFUSAL_MS = 10_000

/**
 * Opens the database of DATABASE_READ_URL; `cleanUp` closes it. Throws an Error unless it is a standby of the primary.
 * One that is away, or that has not replayed as much, is checked as soon as it answers: a standby must not keep an
 * instance from starting.
 */
export async function openStandby(
  url: string,
  primary: Kysely<Tables>,
  log: Log,
  cleanUp: AsyncDisposableStack,
): Promise<ReadStandby> {
  const options = { max: 10, application_name: 'economy standby reads', settings: keyedReadSettings }
  const db = queryBuilder(readPool(openPool(url, options, log)))
  cleanUp.defer(() => db.destroy())
  const probe = queryBuilder(openPool(url, { max: 1, application_name: 'economy standby probe' }, log))
  cleanUp.defer(() => probe.destroy())
  let isChecked = false
  const headOfSameLedger = async (): Promise<number> => {
    if (isChecked) return headOf(probe)
    // First: an empty ledger is read later, but a pooler that shares sessions refuses the start.
    await assertOwnSession(url, 'economy standby check')
    const head = await assertSameLedger(probe, primary)
    isChecked = true
    return head
  }
  try {
    await headOfSameLedger()
  } catch (err) {
    if (!isConnectionError(err) && !isUndefinedInSchema(err) && !(err instanceof EmptyLedger)) throw err
    log.warn({ err }, 'DATABASE_READ_URL cannot be read yet; reading from DATABASE_URL meanwhile')
  }
  let refusal: { readonly err: unknown; readonly until: number } | undefined
  const head = async (): Promise<number> => {
    if (refusal !== undefined && performance.now() < refusal.until) throw refusal.err
    try {
      return await headOfSameLedger()
    } catch (err) {
      // Another server may answer the next time.
      isChecked = false
      if (err instanceof ForeignLedger || err instanceof SharedSession) {
        log.warn({ err }, 'DATABASE_READ_URL must not be read; reading from DATABASE_URL')
        refusal = { err, until: performance.now() + REFUSAL_MS }
      }
      throw err
    }
  }
  const reports = openReportDatabase(url, 'economy standby reports', log)
  cleanUp.defer(() => reports.destroy())
  return { url, db, reports, head }
}

/** It has not replayed the first event. */
class EmptyLedger extends Error {
  override readonly name = 'EmptyLedger'
}

/**
 * Compares the first event, and the last one that the standby has, with the primary's. Resolves to where the standby's
 * ledger ends. Throws a ForeignLedger when they differ.
 */
export async function assertSameLedger(standby: Kysely<Tables>, primary: Kysely<Tables>): Promise<number> {
  const head = await headOf(standby)
  if (head === 0) throw new EmptyLedger('its ledger is empty')
  const own = await hashesAt(standby, head)
  const primarys = await hashesAt(primary, head)
  if (own !== primarys) throw new ForeignLedger()
  return head
}

async function hashesAt(db: Kysely<Tables>, position: number): Promise<string> {
  const events = await db
    .selectFrom('ledger_events')
    .select(['position', 'hash'])
    .where('position', 'in', [1, position])
    .orderBy('position')
    .execute()
  return JSON.stringify(events)
}
