import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { connect } from '../../src/db/connect.ts'
import { defineDecoration } from '../../src/gifts/define-decoration.ts'
import { sendGift } from '../../src/gifts/send.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { defineUsers } from '../../src/people/define-user.ts'
import { defineRoom } from '../../src/rooms/define-room.ts'
import { lookAheadWith, rowsAhead } from '../../src/start/look-ahead.ts'
import { credit } from '../../src/wallet/credit.ts'
import { readDb } from '../support/doors.ts'
import { type Bench, bench, rowsOf, testChains } from '../support/ledger.ts'
import { testDatabase } from '../support/postgres.ts'

const send = sendGift({ chains: testChains, ownerPercent: 5 })
const rose = (sender: number, receiver: number) => ({
  caller_id: sender,
  sender_id: sender,
  decoration_id: 1,
  receiver_ids: [receiver],
  quantity: 1,
  room: 7,
  from_bag: false,
  encrypted: false,
})

async function opened({ did }: Bench): Promise<void> {
  await did(openLedger, { fairness_key: testChains.keyHash })
  await did(defineUsers, { listed: true, users: [1, 2, 3, 4, 5].map((id) => ({ id })) })
  await did(defineRoom, { id: 7, uid: 'R7', owner_id: 3 })
  await did(defineDecoration, { decoration_id: 1, name: 'rose', kind: 'standard', price: 100 })
  for (const id of [5, 1, 2]) await did(credit, { user_id: id, currency: 'diamonds', amount: 1_000, reason: '' })
}

test('whoever and whatever was in the last events, the newest first', async (t) => {
  const database = await testDatabase(t)
  const db = readDb(t, database)
  const ledger = bench(t, database.serviceUrl)
  t.same(await rowsAhead(db), [], 'on an empty ledger')
  await opened(ledger)
  await ledger.did(send, rose(1, 4))
  const asked = (await rowsAhead(db)).map(({ projection, id }) => `${projection.name} ${id}`)
  const user = (id: number): string[] => [`users ${id}`, `balances user:${id}:diamonds`, `balances user:${id}:target`]
  t.same(asked, ['rooms 7', 'balances room:7:target', ...user(1), ...user(3), ...user(4), ...user(2), ...user(5)])

  // Odd names, as only somebody with the owner's rights could leave them behind.
  await rowsOf(
    database,
    `insert into ledger_events select position + 1, type, version, data, '{user::coins,user:1e3:coins,room:x:target}',
       '{house:9:coins,"user:99999999999999999999:coins",game:1:coins}', '{1,1,1}', actor, at, request_id, null, null, hash
     from ledger_events order by position desc limit 1`,
  )
  t.same(
    (await rowsAhead(db)).map(({ projection, id }) => `${projection.name} ${id}`),
    asked,
  )
})

test('an instance that looked ahead has nothing to look up for a gift', async (t) => {
  const database = await testDatabase(t)
  const before = bench(t, database.serviceUrl)
  await opened(before)
  await before.did(send, rose(1, 2))

  const db = readDb(t, database)
  const [warm, cold] = [bench(t, database.serviceUrl), bench(t, database.serviceUrl)]
  // As every start does.
  await warm.did(openLedger, { fairness_key: testChains.keyHash })
  await lookAheadWith(warm.executor, db)
  await warm.did(defineDecoration, { decoration_id: 1, name: 'rose', kind: 'standard', price: 10 })
  const holder = await connect(database.ownerUrl, 'test')
  t.teardown(() => holder.end())
  // Nobody can look a user up any more.
  await holder.query('begin; lock table users')
  await warm.did(send, rose(2, 1))
  const sending = cold.did(send, rose(2, 1)).then(() => 'sent')
  t.equal(await Promise.race([sending, pause(300, 'waits')]), 'waits')
  await holder.query('rollback')
  t.equal(await sending, 'sent')
  t.same([...cold.troubles, ...warm.troubles, ...warm.bugs], [])
})

test('beside an instance that writes it is left at that', async (t) => {
  const database = await testDatabase(t)
  const other = bench(t, database.serviceUrl)
  const { did, executor, batches } = bench(t, database.serviceUrl)
  await other.did(openLedger, { fairness_key: testChains.keyHash })
  await other.did(defineUsers, { listed: true, users: Array.from({ length: 1_500 }, (_, i) => ({ id: i + 1 })) })
  for (let id = 1; id <= 1_500; id += 1) {
    void other.did(credit, { user_id: id, currency: 'diamonds', amount: 1, reason: '' })
  }
  await other.did(credit, { user_id: 1, currency: 'diamonds', amount: 1, reason: '' })
  await did(openLedger, { fairness_key: testChains.keyHash })
  batches.length = 0
  await lookAheadWith(executor, readDb(t, database))
  t.equal(batches.length, 9, 'alone')
  await other.did(credit, { user_id: 1, currency: 'diamonds', amount: 1, reason: '' })
  await did(openLedger, { fairness_key: testChains.keyHash })
  await other.did(credit, { user_id: 1, currency: 'diamonds', amount: 1, reason: '' })
  batches.length = 0
  await lookAheadWith(executor, readDb(t, database))
  t.equal(batches.length, 1)
})
