import { test } from 'tap'
import { chooseSeed, evolveLuckyChains, showChains } from '../../../src/features/fairness/lucky-chains.ts'
import { chainLookup } from '../../../src/features/gifts/reads.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { evolveIncarnation, incarnationIn, incarnations, recordRestore } from '../../../src/ledger/rules/incarnation.ts'
import { seededLedger } from '../../audit/seed-ledger.ts'
import { rebuildTables, verifyDatabase } from '../../audit/verify-database.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { FIXED_NOW, givenWhen, testIncarnation } from '../../harness/ledger/given-when.ts'
import { createTestExecutor, queryRows, testChains } from '../../harness/ledger/test-executor.ts'

const INCARNATION = 'fedcba9876543210'.repeat(2)
const restore = { incarnation: INCARNATION, reason: 'a restore', last_known: { position: 9, hash: 'a'.repeat(64) } }

test('a restore begins an incarnation once', async (t) => {
  const ledger = givenWhen(evolveIncarnation)
  const { events } = ledger.when(recordRestore, restore, { position: 4, now: FIXED_NOW + 5 })
  t.match(events, [{ type: 'ledger-restored', data: restore, movements: [], position: 4 }])
  t.same(ledger.state.get(incarnations, '1'), {
    one: 1,
    incarnation: INCARNATION,
    position: 4,
    began_at: FIXED_NOW + 5,
  })
  t.same(ledger.when(recordRestore, restore).events, [], 'repeated')
  t.match(ledger.when(recordRestore, { ...restore, incarnation: testIncarnation, last_known: null }).events, [
    { type: 'ledger-restored', data: { last_known: null } },
  ])
  t.equal(incarnationIn(ledger.state), testIncarnation)
})

test('after a restore the next chain has a number that the ledger does not name, and a commitment of its own', async (t) => {
  const show = showChains(testChains)
  const ledger = givenWhen(evolveIncarnation, evolveLuckyChains)
  ledger.when(show, { user_id: 7 })
  ledger.when(chooseSeed(testChains), { user_id: 7, client_seed: 'mine' })
  ledger.when(recordRestore, restore)
  t.same(ledger.when(show, { user_id: 7 }).answer, {
    incarnation: INCARNATION,
    chain: '7-4',
    commitment: testChains.commitment({ incarnation: INCARNATION, chain: '7-4' }),
    client_seed: 'mine',
    next: '7-5',
    next_commitment: testChains.commitment({ incarnation: INCARNATION, chain: '7-5' }),
  })
  t.same(ledger.when(show, { user_id: 7 }).events, [], 'shown again')
  t.match(ledger.when(chooseSeed(testChains), { user_id: 7, client_seed: 'other' }).answer, { chain: '7-5' })
})

test('draws continue after a restore, and verify and rebuild agree', async (t) => {
  const database = await seededLedger()
  const { runOk, run, bugs, failures } = createTestExecutor(t, database.serviceUrl)
  const gift = { caller_id: 1, sender_id: 1, decoration_id: 2, receiver_ids: [3], quantity: 1, room: 9 }
  const send = () =>
    run(sendGift({ chains: testChains, ownerPercent: 5 }), { ...gift, from_bag: false, encrypted: false })
  const chains = chainLookup(readDb(t, database))
  await send()
  t.match(await chains.load(1), { incarnation: testIncarnation, chain: '1-2' })
  await runOk(recordRestore, restore)
  t.equal(await chains.load(1), null, 'a chain that draws nothing any more is not shown')
  await send()
  await send()
  t.match(await chains.load(1), { incarnation: INCARNATION, chain: '1-4' })
  const draws = await queryRows(
    database,
    `select data::jsonb->>'incarnation' as incarnation, data::jsonb->>'chain' as chain, data::jsonb->>'k' as k,
            data::jsonb->>'announced' as announced
     from ledger where type = 'gift-drawn' and data::jsonb->>'sender_id' = '1' order by position desc limit 3`,
  )
  t.same(draws.toReversed(), [
    { incarnation: testIncarnation, chain: '1-2', k: '2', announced: 'true' },
    { incarnation: INCARNATION, chain: '1-4', k: '1', announced: 'false' },
    { incarnation: INCARNATION, chain: '1-4', k: '2', announced: 'true' },
  ])
  t.same((await verifyDatabase(database)).findings, [])
  await rebuildTables(database)
  t.same((await verifyDatabase(database)).findings, [])
  t.same([...bugs, ...failures], [])
})
