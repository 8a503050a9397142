import { test } from 'tap'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { genesis, recordRestore } from '../../../src/ledger/rules/incarnation.ts'
import {
  compareWithSeen,
  type LedgerEnd,
  type Query,
  readLedgerEnd,
  recordLostCommits,
  saveHome,
} from '../../../src/ledger/storage/lost-commits.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { testIncarnation } from '../../harness/ledger/given-when.ts'
import { createTestExecutor, queryRows, testOpening } from '../../harness/ledger/test-executor.ts'
import { openClient } from '../../harness/postgres/connections.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const wentBack = { name: 'LedgerWentBack' }
const hashOf = (digit: string): string => digit.repeat(64)
const home = { system: '7', timeline: 1 }
const end: LedgerEnd = {
  position: 9,
  hash: hashOf('9'),
  ledger: hashOf('1'),
  database: '7/1',
  incarnation: 'b'.repeat(32),
  began_at: 2_000,
  hash_there: hashOf('5'),
  home,
  here: home,
  lost: null,
}
const seen = {
  ledger: hashOf('1'),
  database: '7/1',
  incarnation: 'b'.repeat(32),
  began_at: 2_000,
  position: 5,
  hash: hashOf('5'),
}
const promoted = { ...end, here: { system: '7', timeline: 2 } }
const former = { ...seen, incarnation: 'a'.repeat(32), began_at: 1_000, position: 50 }
const empty = { ...end, position: 0, hash: hashOf('0'), ledger: null, incarnation: null, began_at: null, home: null }

test('a ledger is compared with what was seen on it', async (t) => {
  const lost = { incarnation: 'c'.repeat(32), reason: 'noticed', position: 12, hash: hashOf('c'), ended_at: 9 }
  for (const [what, found, before, isSynchronous, expected] of [
    ['what was seen is there', end, seen, false, { is: 'here', hasMoved: false }],
    ['it ends where it was seen to end', { ...end, position: 5, hash: hashOf('5') }, seen, false, { is: 'here' }],
    [
      'it ends before',
      { ...end, position: 4, hash_there: null },
      seen,
      false,
      { is: 'back', reason: /ends at position 4/ },
    ],
    [
      'another event is there',
      { ...end, hash_there: hashOf('6') },
      seen,
      false,
      { is: 'back', reason: /another event/ },
    ],
    ['the same where no commit can be missing', { ...end, hash_there: null }, seen, true, { is: 'back' }],
    ['it was recorded', { ...end, lost }, seen, true, { is: 'back', reason: 'noticed' }],
    ['it was recorded, and nothing was seen', { ...end, lost }, null, true, { is: 'back', reason: 'noticed' }],
    ['another timeline', promoted, seen, false, { is: 'back', reason: /was timeline 1 of system 7 and is timeline 2/ }],
    ['another system', { ...end, here: { system: '8', timeline: 1 } }, seen, false, { is: 'back' }],
    ['another timeline where no commit can be missing', promoted, seen, true, { is: 'here', hasMoved: true }],
    ['another timeline there, and it ends before', { ...promoted, position: 4 }, seen, true, { is: 'back' }],
    ['nothing was seen', end, null, false, { is: 'here', hasMoved: false }],
    ['nothing was seen, and another timeline', promoted, null, true, { is: 'unseen', reason: /timeline 2/ }],
    ['only a former incarnation was seen, and another timeline', promoted, former, true, { is: 'unseen' }],
    ['a restore was recorded since', end, former, false, { is: 'restored' }],
    [
      'an earlier incarnation is back',
      end,
      { ...seen, incarnation: 'c'.repeat(32), began_at: 3_000 },
      true,
      { is: 'back' },
    ],
    ['another ledger', end, { ...seen, ledger: hashOf('2') }, false, { is: 'another', reason: /another ledger/ }],
    ['an empty ledger', empty, seen, false, { is: 'another', reason: /is empty/ }],
    ['an empty standby', { ...empty, here: null }, seen, false, { is: 'unknown' }],
    ['an empty ledger, and nothing was seen', empty, null, false, { is: 'here', hasMoved: true }],
    ['a standby', { ...end, here: null, position: 4, hash_there: null }, seen, false, { is: 'unknown' }],
  ] as const) {
    t.match(compareWithSeen(found, before, isSynchronous), expected, what)
  }
})

test('an end of another form is not taken for one', async (t) => {
  const answering =
    (answer: unknown): Query =>
    async () => ({ rows: [{ ledger_end: JSON.stringify(answer) }] })
  t.same(await readLedgerEnd(answering(end), 5), end)
  for (const wrong of [{ ...end, position: '9' }, { ...end, here: { system: '7' } }, { ...end, lost: {} }, null]) {
    await t.rejects(readLedgerEnd(answering(wrong), 5), /another form/)
  }
})

test('nothing is written from when lost commits are recorded until an incarnation begins', async (t) => {
  const database = await testDatabase()
  const [one, two] = [createTestExecutor(t, database.serviceUrl), createTestExecutor(t, database.serviceUrl)]
  await one.runOk(genesis, testOpening)
  await one.runOk(defineUsers, { listed: true, users: [{ id: 1 }] })
  const coin = { holder: 'user', id: 1, user_id: 1, currency: 'coins', amount: 1, reason: 'test' } as const
  const pay = (ledger = one, key = 'first') => ledger.run(credit, coin, { actor: 'staff:ann', key })
  const unknown = { ...coin, user_id: 404 }
  for (let i = 0; i < 3; i += 1) await pay(one, `early ${i}`)
  const client = await openClient(t, database.serviceUrl)
  const query: Query = (statement) => client.query<object>({ ...statement })
  const before = await readLedgerEnd(query, 3)
  t.match(before, { position: 5, incarnation: testIncarnation, home: null, here: { timeline: 1 }, lost: null })
  t.equal(before.hash_there, (await queryRows(database, 'select hash from ledger where position = 3'))[0]?.['hash'])
  await saveHome(query)

  const noticed = {
    incarnation: testIncarnation,
    next: 'd'.repeat(32),
    reason: 'a test',
    last_known: { position: 9, hash: hashOf('9') },
  }
  const record = async (fields: Partial<typeof noticed>) => {
    const lost = await recordLostCommits(client, { ...noticed, ...fields })
    if (lost === null) throw new Error('another incarnation has begun')
    return lost
  }
  t.equal(await recordLostCommits(client, { ...noticed, incarnation: 'f'.repeat(32) }), null, 'it has begun another')
  await pay(one, 'still')
  const lost = await record({})
  t.match(lost, { one: 1, incarnation: noticed.next, reason: 'a test', position: 9, hash: hashOf('9'), ended_at: 6 })
  t.match(
    await recordLostCommits(client, { ...noticed, next: 'e'.repeat(32), reason: 'again', last_known: null }),
    lost,
    'the first record stands',
  )
  const { home: saved, here, lost: stands } = await readLedgerEnd(query, null)
  t.same(saved, here)
  t.match(stands, { incarnation: lost.incarnation, position: 9, ended_at: 6 })

  for (const ledger of [one, two]) {
    await t.rejects(pay(ledger), wentBack)
    await t.rejects(pay(ledger, 'early 0'), wentBack, 'a stored reply')
    await t.rejects(ledger.run(credit, unknown, { actor: 'staff:ann' }), wentBack, 'a refusal')
  }
  await one.runOk(recordRestore, { ...noticed, incarnation: lost.incarnation })
  t.match(await pay(), { reply: { status: 200 }, position: 8 })
  t.match(await pay(two, 'second'), { reply: { status: 200 }, position: 9 })
  t.equal((await readLedgerEnd(query, null)).lost, null)
  const again = await record({ incarnation: lost.incarnation, next: 'e'.repeat(32) })
  await t.rejects(two.runOk(recordRestore, { ...noticed, incarnation: lost.incarnation }), wentBack)
  t.match(
    (await readLedgerEnd(query, null)).lost,
    { incarnation: again.incarnation },
    'a former restore lifts no later ban',
  )
  await two.runOk(recordRestore, { ...noticed, incarnation: again.incarnation })
  t.same((await verifyDatabase(database)).findings, [])
  t.same([...one.bugs, ...two.bugs], [])
})
