import { test } from 'tap'
import { checkReplies, readOldestReply } from '../../../src/audit/verify/check-replies.ts'
import { Snapshot } from '../../../src/ledger/replay/snapshot.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { grownLedger, positionsOf } from '../../ledger/indexes/index-fixture.ts'
import { tamper } from '../verify-database.ts'

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
             join replies r using (key) where r.status = 201) as changed`,
  )
  t.equal(found.length, Number(row?.['changed']))
  t.ok(found.length > 1)
  const reads = await snapshot.query(
    `select sum(seq_tup_read + idx_tup_fetch) as count from pg_stat_xact_user_tables where relname like 'replies_%'`,
  )
  t.same(reads, [{ count: row?.['events'] }])
})
