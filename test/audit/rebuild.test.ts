import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { indexTables } from '../../src/audit/rebuild/shadow-indexes.ts'
import { tables } from '../../src/domain.ts'
import { defineDecoration } from '../../src/features/gifts/define-decoration.ts'
import { sendGift } from '../../src/features/gifts/send.ts'
import { credit, debit } from '../../src/features/wallet/balance-move.ts'
import { Unavailable } from '../../src/ledger/executor/failures.ts'
import { BLOCK_EVENTS } from '../../src/ledger/indexes/index-writer.ts'
import { createTestExecutor, queryRows, type TestExecutor, testChains } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { openClient } from '../harness/postgres/connections.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'
import { testSchema } from '../harness/postgres/test-schema.ts'
import { until } from '../harness/until.ts'
import {
  grownLedger,
  positionsOf,
  runRandomCommands,
  startIndexer,
  untilIndexed,
} from '../ledger/indexes/index-fixture.ts'
import { auditScript, runAudit } from './run-audit.ts'
import { seededLedger } from './seed-ledger.ts'
import { rebuildTables, tamper, verifyDatabase } from './verify-database.ts'

const derived = tables.filter(({ source }) => source === 'ledger')
/** PostgreSQL's catalogue entries of the tables, without object ids. */
const catalogue = (database: TestDatabase) =>
  queryRows(
    database,
    `select c.relname, c.relkind, c.relowner::regrole::text as owner, c.relacl::text, c.reloptions::text,
            obj_description(c.oid, 'pg_class') as comment, coalesce(pg_get_indexdef(i.indexrelid), '') as index,
            coalesce(pg_get_constraintdef(k.oid), '') as constraint,
            (select string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull), ',' order by attnum)
             from pg_attribute where attrelid = c.oid and attnum > 0) as columns
     from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_constraint k on k.conindid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'i') order by c.relname`,
  )

const contents = async (database: TestDatabase) => {
  const held: Record<string, unknown> = {}
  for (const { projection, selectAll: scan } of derived)
    held[projection.name] = await queryRows(database, `${scan} order by 1, 2`)
  return held
}

const indexesOf = async (database: TestDatabase) => [
  await queryRows(database, 'select * from ledger_index_segments order by base'),
  await queryRows(database, 'select * from ledger_index order by level, base, term, first'),
]

const send = sendGift({ chains: testChains, ownerPercent: 5 })
const gift = (sender: number) => ({ caller_id: sender, sender_id: sender, decoration_id: 2, quantity: 1, room: 9 })
const sendAs = ({ runOk }: TestExecutor, sender: number, receiver: number) =>
  runOk(send, { ...gift(sender), receiver_ids: [receiver], from_bag: false, encrypted: false })

test('a rebuild restores altered tables from the ledger and keeps all their properties', async (t) => {
  const database = await seededLedger()
  // An instance with cached rows and prepared statements.
  const ledger = createTestExecutor(t, database.serviceUrl)
  for (let i = 0; i < 3; i += 1) await sendAs(ledger, 1, 2)
  const name = 'a\tb\\N\\.\r\n"ü",{}'
  await ledger.runOk(defineDecoration, { decoration_id: 3, name, kind: 'standard', price: 1 })
  const before = { catalogue: await catalogue(database), contents: await contents(database) }
  const profiles = await queryRows(database, 'select * from user_profiles order by 1')
  await tamper(
    database,
    `update balances set balance = 1000000 where account = 'user:1:diamonds'`,
    'delete from rooms',
    `insert into bag_items values (3, 1, 5, 1)`,
    'create table left_alone (one int)',
  )
  t.not((await verifyDatabase(database)).findings.length, 0)

  t.match(await rebuildTables(database), { position: 26, tables: derived.length + indexTables.length })
  await tamper(database, 'drop table left_alone')
  t.same({ catalogue: await catalogue(database), contents: await contents(database) }, before)
  t.same(await queryRows(database, 'select * from user_profiles order by 1'), profiles)
  t.same(await verifyDatabase(database), { position: 26, events: 26, findings: [] })
  t.same(await queryRows(database, `select 1 from pg_namespace where nspname = '${testSchema}-rebuilt'`), [])

  await sendAs(ledger, 1, 3)
  t.same((await verifyDatabase(database)).findings, [])
  t.same([...ledger.bugs, ...ledger.failures], [])
})

test('an instance does not use cached rows of the altered tables after a rebuild', async (t) => {
  const database = await seededLedger()
  await tamper(database, `update balances set balance = 1000000 where account = 'user:1:diamonds'`)
  const ledger = createTestExecutor(t, database.serviceUrl)
  const rob = { holder: 'user', id: 1, currency: 'diamonds', amount: 500_000, reason: 'too much' } as const
  for (let i = 0; i < 3; i += 1) await ledger.runOk(credit, { user_id: 1, currency: 'diamonds', amount: 1, reason: '' })
  await rebuildTables(database)
  t.match((await ledger.run(debit, rob)).reply.body, /insufficient_balance/)
  t.same((await verifyDatabase(database)).findings, [])
})

test('two instances under load lose nothing while tables are rebuilt and swapped', {
  skip: onlyInFullRun,
}, async (t) => {
  const database = await seededLedger()
  const ledgers = [1, 2].map(() => createTestExecutor(t, database.serviceUrl, { maxBatchCommands: 8 }))
  for (const user_id of [1, 2]) {
    await ledgers[0]?.runOk(credit, { user_id, currency: 'diamonds', amount: 1_000_000_000, reason: 'load' })
  }
  const over = new AbortController()
  let sent = 0
  /** Sends until there is a reply: on a busy machine a command may wait for the swap for longer than it can. */
  const sendOnce = async ({ run }: TestExecutor, sender: number, key: string): Promise<void> => {
    const input = { ...gift(sender), receiver_ids: [3], from_bag: false, encrypted: false }
    for (;;) {
      const result = await run(send, input, { actor: `user:${sender}`, key }).catch((error: unknown) => error)
      if (result instanceof Unavailable) continue
      t.match(result, { reply: { status: 200 } })
      sent += 1
      return
    }
  }
  const load = ledgers.flatMap((ledger, i) =>
    [1, 2].map(async (sender) => {
      for (let n = 0; !over.signal.aborted; n += 1) {
        await sendOnce(ledger, sender, `load ${i} ${n}`)
        await pause(5)
      }
    }),
  )
  const reader = await openClient(t, database.serviceUrl)
  const reading = (async () => {
    while (!over.signal.aborted) {
      await reader.query({ name: 'look', text: 'select sum(balance) as sum from balances' })
      await pause(5)
    }
  })()
  const indexer = startIndexer(t, database)
  await until(() => sent > 20)
  const { position } = await rebuildTables(database)
  const sentBefore = sent
  await until(() => sent > sentBefore + 20)
  over.abort()
  await Promise.all([...load, reading])
  await untilIndexed(database)
  t.same(indexer.failures, [], 'the new index is written from where it ends')
  const drawn = await queryRows(database, `select from ledger where type = 'gift-drawn' and position > 24`)
  t.equal(drawn.length, sent)
  t.ok(position > 24 && position < 24 + sent)
  t.same((await verifyDatabase(database)).findings, [])
  t.same(
    ledgers.flatMap(({ bugs }) => bugs),
    [],
  )
})

/** A few commands at a time; on a busy machine they may wait for a swap for longer than they can. */
async function commandsUntil(over: AbortSignal, ledger: TestExecutor): Promise<void> {
  const refused = (error: unknown): void => {
    if (!(error instanceof Unavailable)) throw error
  }
  while (!over.aborted) await Promise.all([runRandomCommands(ledger, 5).catch(refused), pause(20)])
}

test('a swap that could not lock the tables is tried again with nothing lost', { skip: onlyInFullRun }, async (t) => {
  const database = await seededLedger()
  const ledger = createTestExecutor(t, database.serviceUrl)
  const holder = await openClient(t, database.ownerUrl)
  await holder.query('begin; lock table rooms in share update exclusive mode')
  const waits = async () =>
    (
      await queryRows(
        database,
        `select 1 from pg_stat_activity
         where application_name = 'ledger rebuild' and wait_event_type = 'Lock' and datname = current_database()`,
      )
    ).length > 0
  const over = new AbortController()
  const load = commandsUntil(over.signal, ledger)
  const building = rebuildTables(database)
  await until(waits)
  await until(async () => !(await waits()))
  await holder.query('commit')
  await building
  over.abort()
  await load
  t.same((await verifyDatabase(database)).findings, [])
})

test('a killed rebuild changes nothing, and the next one removes its leftovers', { skip: onlyInFullRun }, async (t) => {
  const database = await seededLedger()
  const before = await contents(database)
  // A reader of a table prevents its swap.
  const reader = await openClient(t, database.serviceUrl)
  await reader.query('begin; select * from rooms')
  const env = { ...process.env, DATABASE_URL: database.serviceUrl, DATABASE_OWNER_URL: database.ownerUrl }
  const child = spawn(process.execPath, [auditScript, 'rebuild'], { env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  await until(async () => {
    const built = `select 1 from pg_indexes where schemaname = '${testSchema}-rebuilt' and tablename = 'rooms'`
    return (await queryRows(database, built)).length > 0
  })
  await t.rejects(rebuildTables(database), { message: 'Another rebuild is running.' })
  child.kill('SIGKILL')
  await ended
  t.same(await contents(database), before)
  t.same(await verifyDatabase(database), { position: 22, events: 22, findings: [] })
  await sendAs(createTestExecutor(t, database.serviceUrl), 1, 2)

  const again = runAudit({ DATABASE_URL: database.serviceUrl, DATABASE_OWNER_URL: database.ownerUrl }, 'rebuild')
  // Until it looks for those who still read the tables.
  await until(async () => {
    const waiting = `select from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()
      and state = 'idle' and query like 'select distinct virtualtransaction%'`
    return (await queryRows(database, waiting)).length > 0
  })
  await reader.query('commit')
  t.match(await again, {
    code: 0,
    out: /^rebuilt: \d+ tables of \d+ rows from 23 events in [\d.]+ s; commands waited for [\d,]+ ms\n$/,
  })
  t.same(await verifyDatabase(database), { position: 23, events: 23, findings: [] })
})

test('a rebuild refuses a ledger with findings, and tables that other objects depend on', async (t) => {
  const database = await seededLedger()
  const before = await contents(database)
  await tamper(database, 'create view rich as select * from balances where balance > 100')
  await t.rejects(rebuildTables(database), {
    message: /^Table balances cannot be swapped: rule _RETURN on view rich depends on it\.$/,
  })
  await tamper(database, 'drop view rich', 'update shown_events set amount[1] = 41 where position = 11')
  await t.rejects(rebuildTables(database), { message: /^The ledger is not sound\. position 11: hash: / })
  await tamper(
    database,
    'update shown_events set amount[1] = 40 where position = 11',
    'delete from ledger_events where position = 22',
  )
  await t.rejects(rebuildTables(database), { message: /^The ledger is not sound\. position 22: / })
  t.same(await contents(database), before)
})

test('a rebuild restores the indexes up to the end of the ledger, with their cursor', async (t) => {
  const database = await grownLedger()
  const { head } = await positionsOf(database)
  await rebuildTables(database)
  const indexed = head - (head % BLOCK_EVENTS)
  t.same(await positionsOf(database), { indexed, head }, 'of a ledger that was never indexed')
  const whole = await indexesOf(database)
  t.same((await verifyDatabase(database)).findings, [])

  await tamper(
    database,
    `update ledger_index set data = data || data where base = 0`,
    `delete from ledger_index where base = 256`,
    `update ledger_index_segments set state = 'building' where base = 512`,
    `update ledger_cursors set position = 0 where name = 'indexes'`,
  )
  await rebuildTables(database)
  t.same(await positionsOf(database), { indexed, head })
  t.same(await indexesOf(database), whole)
})
