import type { CheckpointHead } from '../../src/audit/checkpoint.ts'
import { rebuild } from '../../src/audit/rebuild/rebuild.ts'
import { type Verification, verify } from '../../src/audit/verify/verify.ts'
import { GENESIS_HASH, hashEvent } from '../../src/ledger/storage/event-hash.ts'
import { eventColumns, parseEntry } from '../../src/ledger/storage/stored-event.ts'
import { queryRows, testPiiKey } from '../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'

/** Verifies a database as the service's own role. */
export const verifyDatabase = (
  { serviceUrl }: TestDatabase,
  asOf: number | null = null,
  checkpoint: CheckpointHead | null = null,
  sealsFolder?: string,
): Promise<Verification> => {
  const { signal } = new AbortController()
  return verify(serviceUrl, {
    asOf,
    checkpoint,
    piiKey: testPiiKey,
    progress: () => {},
    signal,
    ...(sealsFolder !== undefined && { sealsFolder }),
  })
}

/** Runs SQL as the owner of the database, with the ledger's guards off. */
export async function tamper(database: TestDatabase, ...statements: readonly string[]): Promise<void> {
  const all = ['alter table ledger_events disable trigger user', ...statements]
  await queryRows(database, [...all, 'alter table ledger_events enable trigger user'].join('; '))
}

/**
 * What a forger who knows the chain would do: recomputes all hashes from the changed events, the head's too. The head gets
 * another batch, so that an executor that remembers the head reads it again.
 */
export async function rechain(database: TestDatabase): Promise<void> {
  const rows = await queryRows(database, `select ${eventColumns} from ledger_events e order by e.position`)
  let hash = GENESIS_HASH
  const updates = rows.map((row) => {
    const entry = parseEntry(row)
    hash = hashEvent(entry, hash)
    return `update ledger_events set hash = '${hash}' where position = ${entry.position}`
  })
  await tamper(database, ...updates, `update ledger_head set hash = '${hash}', batch = gen_random_uuid()`)
}

/** Changes the event at a position. */
export const changed = (position: number, change: string): string =>
  `update ledger_events set ${change} where position = ${position}`

/** Inserts a copy of an event at another position. */
export const copied = (position: number, from: number): string => `insert into ledger_events
  select ${position}, type, version, data, debit, credit, amount, actor, at, request_id, idempotency_key, reply_hash, hash
  from ledger_events where position = ${from}`

/** Keeps the rows of these tables, and answers what puts them back: faster than a database for each change. */
export async function keepRows(database: TestDatabase, ...tables: readonly string[]): Promise<() => Promise<void>> {
  await tamper(database, ...tables.map((table) => `create table kept_${table} as table ${table}`))
  return () =>
    tamper(database, ...tables.flatMap((table) => [`delete from ${table}`, `insert into ${table} table kept_${table}`]))
}

/** Rebuilds all tables that are derived from the ledger. */
export const rebuildTables = ({ ownerUrl }: TestDatabase) =>
  rebuild(ownerUrl, { progress: () => {}, signal: new AbortController().signal })
