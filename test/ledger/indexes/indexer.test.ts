import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { BLOCK_EVENTS, baseOf } from '../../../src/ledger/indexes/index-rows.ts'
import { indexUrgency } from '../../../src/ledger/indexes/indexer.ts'
import type { LedgerEntry } from '../../../src/ledger/storage/event-hash.ts'
import { seededLedger } from '../../audit/seed-ledger.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { openClient } from '../../harness/postgres/connections.ts'
import type { TestDatabase } from '../../harness/postgres/test-database.ts'
import {
  grownLedger,
  indexUpTo,
  movementsOf,
  readLedger,
  runRandomCommands,
  startIndexer,
  untilIndexed,
} from './index-fixture.ts'

const rowsOf = async (database: TestDatabase) => ({
  accounts: await queryRows(database, 'select * from account_index order by account, base'),
  terms: await queryRows(database, 'select * from event_index order by base'),
  types: await queryRows(database, `select type || ' ' || version as type from event_types order by 1`),
})

/** The rows that follow from events, by the plainest means. */
async function expectedRows(database: TestDatabase, events: readonly LedgerEntry[]) {
  const blocks = Map.groupBy(movementsOf(events), ({ account, position }) => `${account} ${baseOf(position)}`)
  const accounts = [...blocks.values()].map((entries) => {
    const [{ account, position } = { account: '', position: 0 }] = entries
    const base = baseOf(position)
    const offsets = `{${entries.map((entry) => entry.position - base).join(',')}}`
    return { account, base: String(base), offsets, balance: String(entries.at(-1)?.balance) }
  })
  const byBlock = Map.groupBy(events, ({ position }) => baseOf(position))
  const full = [...byBlock].filter(([, those]) => those.length === BLOCK_EVENTS)
  const terms = await Promise.all(
    full.map(async ([base, those]) => {
      const texts = [...new Set(those.flatMap(termsOf))]
      const [row] = await queryRows(
        database,
        `select array_agg(distinct hashtext(t) order by hashtext(t)) as terms
         from json_array_elements_text('${JSON.stringify(texts).replaceAll("'", "''")}') as t`,
      )
      return { base: String(base), terms: row?.['terms'] ?? null }
    }),
  )
  return {
    accounts: accounts.toSorted((a, b) => compare(a.account, b.account) || Number(a.base) - Number(b.base)),
    terms,
    types: [...new Set(events.map(({ type, version }) => `${type} ${version}`))].toSorted().map((type) => ({ type })),
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function termsOf({ type, actor, requestId, idempotencyKey, data, movements }: LedgerEntry): string[] {
  const users = [
    ...movements
      .flatMap(({ debit, credit: to }) => [debit, to])
      .flatMap((name) => /^user:(\d+):/.exec(name)?.[1] ?? []),
    ...(/^user:(\d+)$/.exec(actor)?.slice(1) ?? []),
    ...[...data.matchAll(/(?:user|sender|receiver|creator|winner|owner|target|beneficiary)_id":(\d+)/g)].map(
      ([, id]) => id,
    ),
    ...[...data.matchAll(/(?:user|receiver|player|loser)_ids":\[([\d,]+)\]/g)].flatMap(([, ids = '']) =>
      ids.split(','),
    ),
  ]
  return [
    `type ${type}`,
    `actor ${actor}`,
    `request ${requestId}`,
    ...(idempotencyKey === null ? [] : [`key ${idempotencyKey}`]),
    ...users.map((id) => `user ${id}`),
  ]
}

test('the rows follow from the events, in whatever steps they were written', async (t) => {
  const database = await grownLedger()
  const events = await readLedger(database)

  await indexUpTo(database, 700, 37)
  t.same(await rowsOf(database), await expectedRows(database, events.slice(0, 700)), 'in small steps')
  const { failures } = startIndexer(t, database)
  await untilIndexed(database)
  t.same(await rowsOf(database), await expectedRows(database, events), 'from where it was')
  t.same(failures, [])
})

test('two subscribers that are killed again and again while commands run write every row once', async (t) => {
  const database = await seededLedger()
  const ledger = createTestExecutor(t, database.serviceUrl)
  startIndexer(t, database)
  startIndexer(t, database)
  const over = new AbortController()
  t.teardown(async () => over.abort())
  const killer = await openClient(t, database.serviceUrl)
  const kill = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'follower indexes' and datname = current_database()`
  let kills = 0
  const killing = (async () => {
    for (; !over.signal.aborted; await pause(5)) kills += (await killer.query(kill)).rows.length
  })()
  for (let i = 0; i < 12; i += 1) await runRandomCommands(ledger, 100)
  over.abort()
  await killing
  t.ok(kills > 0)
  await untilIndexed(database)
  t.same(await rowsOf(database), await expectedRows(database, await readLedger(database)))
})

test('a cursor that another has moved is read again, and nothing is written twice', async (t) => {
  const database = await seededLedger()
  const { failures } = startIndexer(t, database)
  await untilIndexed(database)
  // As a rebuild does.
  await queryRows(
    database,
    `begin; truncate account_index; update ledger_cursors set position = 0 where name = 'indexes'; commit`,
  )
  await createTestExecutor(t, database.serviceUrl).runOk(credit, {
    user_id: 1,
    currency: 'coins',
    amount: 1,
    reason: 'more',
  })
  await untilIndexed(database)
  t.same(await rowsOf(database), await expectedRows(database, await readLedger(database)))
  t.same(failures, [])
})

test('the indexer rests the less the further it is behind, and not at all half way to what reads can search', async (t) => {
  const cases: [left: number, urgency: number][] = [
    [0, 0],
    [250, 0.1],
    [1_250, 0.5],
    [2_500, 1],
    [1_000_000, 1],
  ]
  for (const [left, urgency] of cases) t.equal(indexUrgency(left), urgency, `${left} events`)
})
