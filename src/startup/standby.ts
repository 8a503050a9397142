import { type Kysely, sql } from 'kysely'
import { assertOwnSession } from '../db/connect.ts'
import { FailureLog, type RecoveryLogger } from '../db/log.ts'
import { openPool } from '../db/pool.ts'
import { isConnectionError, isUndefinedInSchema } from '../db/postgres-errors.ts'
import {
  type ChooseReportDatabase,
  openReportDatabase,
  queryBuilder,
  type ReportDatabase,
} from '../db/queries/query-builder.ts'
import { awaitStandby } from '../db/standby.ts'
import type { Tables } from '../db/tables.ts'

/** How long the primary is read when the standby could not be. */
const RETRY_MS = 1_000

/**
 * Opens the database of DATABASE_READ_URL; `cleanUp` closes it. Throws an Error unless it is a standby of the primary, as far
 * as that can be seen: one that is away, or has received nothing yet, must not keep an instance from starting.
 */
export async function openStandby(
  url: string,
  primary: ReportDatabase,
  log: RecoveryLogger,
  cleanUp: AsyncDisposableStack,
): Promise<ChooseReportDatabase> {
  const standby = { db: cleanUp.use(openReportDatabase(url, 'economy standby reports', log)), url }
  // A connection of its own: it must not wait for reports.
  const probe = cleanUp.use(queryBuilder(openPool(url, { max: 1, application_name: 'economy standby probe' }, log)))
  try {
    await assertOwnSession(url, 'economy standby check')
    await assertSameLedger(probe, primary.db)
  } catch (err) {
    if (!isConnectionError(err) && !isUndefinedInSchema(err)) throw err
    log.warn({ err }, 'DATABASE_READ_URL cannot be read yet; reading from DATABASE_URL meanwhile')
  }
  const failures = new FailureLog(
    log,
    'DATABASE_READ_URL cannot be read; reading from DATABASE_URL',
    'reading from DATABASE_READ_URL again',
  )
  let retryAt = 0
  return async () => {
    // Not each page waits for a standby that is away.
    if (performance.now() < retryAt) return primary
    const end = await readEnd(primary.db)
    try {
      if (!(await awaitStandby(() => hasCaughtUp(probe, end)))) throw new StandbyBehind()
      failures.succeeded(probe)
      return standby
    } catch (err) {
      failures.failed(err, probe)
      retryAt = performance.now() + RETRY_MS
      return primary
    }
  }
}

class StandbyBehind extends Error {
  override readonly name = 'StandbyBehind'

  constructor() {
    super('it does not answer in time, or lacks what DATABASE_URL has')
  }
}

/** The last that the primary has. */
interface End {
  /** Where its write-ahead log ends: not all that is written moves the head. */
  readonly lsn: string
  /** The transaction that moved the head last, by which the standby is known to be one of this ledger. */
  readonly batch: string
  readonly migration: string
}

async function readEnd(primary: Kysely<Tables>): Promise<End> {
  return primary
    .selectFrom('ledger_head')
    .select([
      'batch',
      sql<string>`(select max(name) from kysely_migration)`.as('migration'),
      sql<string>`case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end::text`.as(
        'lsn',
      ),
    ])
    .executeTakeFirstOrThrow()
}

/** One that was promoted is no standby any more: it may have what the primary lacks. */
async function hasCaughtUp(standby: Kysely<Tables>, { lsn, batch, migration }: End): Promise<boolean> {
  const { rows } = await sql<{ readonly has_caught_up: boolean }>`
    select pg_is_in_recovery() and pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn
       and ((select batch from ledger_head) = ${batch} or exists (select from ledger_batches where id = ${batch}))
       and (select max(name) from kysely_migration) >= ${migration} as has_caught_up`.execute(standby)
  return rows[0]?.has_caught_up === true
}

/** Compares the first events, which name their ledgers, as far as there are any. */
async function assertSameLedger(standby: Kysely<Tables>, primary: Kysely<Tables>): Promise<void> {
  const [own, primarys] = [await firstHash(standby), await firstHash(primary)]
  if (own === undefined || primarys === undefined || own === primarys) return
  throw new Error('it holds another ledger than DATABASE_URL; give the address of a standby of that database')
}

async function firstHash(db: Kysely<Tables>): Promise<string | undefined> {
  const event = await db.selectFrom('ledger').select('hash').where('position', '=', 1).executeTakeFirst()
  return event?.hash
}
