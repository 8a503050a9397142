import { test } from 'tap'
import { checkReplies, readOldestReply } from '../../../src/audit/verify/check-replies.ts'
import { Snapshot } from '../../../src/ledger/replay/snapshot.ts'
import { isReplyTo, queryRows } from '../../harness/ledger/test-executor.ts'
import { grownLedger, positionsOf } from '../../ledger/indexes/index-fixture.ts'
import { seededLedger } from '../seed-ledger.ts'
import { keepRows, tamper } from '../verify-database.ts'

/** A query for the keys under which replies to these events are stored. */
const keysOf = (events: string): string =>
  `select left(encode(sha256(convert_to(e.actor || E'\\n' || e.idempotency_key, 'UTF8')), 'hex'), 32)::uuid as key
   from ledger e where ${events}`

test('each event has its own stored reply read, and no other, however small the ranges are', async (t) => {
  const database = await grownLedger()
  const { head } = await positionsOf(database)
  await tamper(
    database,
    `update replies set status = 201 where key in (${keysOf(`e.idempotency_key in ('gift 3', 'gift 50')`)})`,
    `delete from replies where key in (${keysOf(`e.idempotency_key = 'gift 51'`)})`,
  )
  const reader = await Snapshot.connect(database.serviceUrl)
  const oldest = await readOldestReply(reader)
  await reader.close()
  const snapshot = await Snapshot.open(database.serviceUrl)
  t.teardown(() => snapshot.close())
  const found = []
  for (let from = 1; from <= head; from += 100) found.push(...(await checkReplies(snapshot, from, from + 99, oldest)))
  const [row] = await queryRows(
    database,
    `select (select count(*) from (${keysOf('true')}) e join replies r using (key)) as events,
            (select count(distinct r.key) from (${keysOf('e.reply_hash is not null')}) e
             join replies r using (key) where r.status = 201) as changed,
            (select count(distinct key) from (${keysOf(`e.idempotency_key = 'gift 51'`)}) e) as missing`,
  )
  t.equal(found.length, Number(row?.['changed']) + Number(row?.['missing']))
  t.ok(found.length > 1)
  const reads = await snapshot.query(
    `select sum(seq_tup_read + idx_tup_fetch) as count from pg_stat_xact_user_tables where relname like 'replies_%'`,
  )
  t.same(reads, [{ count: row?.['events'] }])
})

test('the only reply under a key is that of its event, for 48 hours at least', async (t) => {
  const database = await seededLedger()
  const restore = await keepRows(database, 'ledger_events', 'replies')
  const own = isReplyTo('user:1', 'standard')
  const deleted = `delete from replies where ${own}`
  const moved = (interval: string): string =>
    `update replies set at = at + interval '${interval}', body = '{}' where ${own}`
  const second = (interval: string): string =>
    `insert into replies select key, request_hash, at + interval '${interval}', status, body from replies where ${own}`
  const at = (table: string, interval: string): string => `update ${table} set at = at + interval '${interval}'`
  const aged = [at('ledger_events', '-50 hours'), at('replies', '-50 hours')]
  const later = [
    at('ledger_events', '50 hours'),
    `update ledger_events set at = at - interval '50 hours' where position = 14`,
  ]
  const [missing, another] = ['the stored reply is missing', 'another reply is stored under its key']
  const cases: [message: string | null, ...statements: string[]][] = [
    [null, `update replies set body = '{}' where ${isReplyTo('user:1', 'too much')}`],
    [missing, deleted],
    [another, moved('1 microsecond')],
    [another, moved('100 hours')],
    [another, second('1 day')],
    [another, second('-1 day')],
    [null, ...aged],
    [null, ...aged, deleted],
    // The ledger's last event tells the age where the clock went back.
    [null, ...later, deleted],
    [another, ...aged, moved('47 hours')],
    [null, ...aged, moved('48 hours')],
    [another, ...aged, second('48 hours')],
  ]
  for (const [message, ...statements] of cases) {
    await tamper(database, ...statements)
    const snapshot = await Snapshot.open(database.serviceUrl)
    const found = await checkReplies(snapshot, 14, 14, await readOldestReply(snapshot))
    await snapshot.close()
    t.same(
      found.map((finding) => finding.message),
      message === null ? [] : [message],
      statements.join('; '),
    )
    await restore()
  }
})
