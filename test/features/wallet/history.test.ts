import type { Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Test, test } from 'tap'
import { WalletHistory } from '../../../schema/wallet.ts'
import { makeInstantTransfer } from '../../../src/features/agency/instant-transfer.ts'
import { credit, debit } from '../../../src/features/wallet/balance-move.ts'
import { BLOCK_EVENTS } from '../../../src/ledger/indexes/index-writer.ts'
import { seedLedger } from '../../audit/seed-ledger.ts'
import { createTestApp, type SendRequest } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { addIdleEvents, indexUpTo, positionsOf, runRandomCommands } from '../../ledger/indexes/index-fixture.ts'

const PATH = '/api/v1/wallet/history'

async function read(t: Test, send: SendRequest, url: string): Promise<Static<typeof WalletHistory>> {
  const { status, body } = await send('GET', url)
  t.equal(status, 200, url)
  return Value.Parse(WalletHistory, body)
}

/** All pages, from the newest movement to the first. */
async function readAll(t: Test, send: SendRequest, query: string, limit: number, between = async () => {}) {
  const items = []
  for (let cursor = ''; ; ) {
    const { data, meta } = await read(t, send, `${PATH}?limit=${limit}&${query}&cursor=${cursor}`)
    t.ok(data.length === limit || meta.next_cursor === null)
    items.push(...data)
    if (meta.next_cursor === null) return items
    cursor = meta.next_cursor
    await between()
  }
}

test('the history of a wallet', async (t) => {
  const app = await createTestApp(t)

  await t.test('every movement is listed with its sign, balance and counter-account', async (t) => {
    const { ledger, user, operator, database } = app
    await seedLedger(t, database)
    await ledger.runOk(debit, { holder: 'user', id: 2, currency: 'dollars', amount: 99, reason: 'back' })
    await ledger.runOk(makeInstantTransfer, { caller_id: 2, receiver_id: 2, amount: 150, agent_benefit: false })
    const { head } = await positionsOf(database)
    const page = await read(t, user(2), `${PATH}?currency=dollars`)
    t.same(page.meta, { next_cursor: null, indexed_up_to: 0 })
    t.same(
      page.data.map((item) => [item.id, item.type, item.currency, item.amount, item.balance, item.counter_account]),
      [
        [`${head}-0`, 'instant-transfer-made', 'dollars', -1.5, 10.5, 'house:exchange:dollars'],
        [`${head - 1}-0`, 'balance-debited', 'dollars', -0.99, 12, 'issuance:operator:dollars'],
        ['10-0', 'balance-credited', 'dollars', 12.99, 12.99, 'issuance:operator:dollars'],
      ],
    )
    t.match(page.data[0]?.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    t.match((await user(2)('GET', `${PATH}?currency=dollars`)).text, '"amount":-0.99,')
    const [latest, before] = (await read(t, user(2), `/v1/wallet/history?limit=2`)).data
    t.match(latest, { id: `${head}-1`, amount: 15_000, counter_account: 'issuance:exchange:diamonds' })
    t.match(before, { id: `${head}-0`, currency: 'dollars' }, 'numbered in the order of the movements')

    t.same((await read(t, user(3), `${PATH}?currency=coins`)).data, [])
    t.match(await operator('GET', PATH), { status: 403 })
    t.match(await user(99)('GET', PATH), { status: 401 })
  })

  await t.test('invalid queries are refused', async (t) => {
    const { user } = app
    const cursor = (text: string) => Buffer.from(text).toString('base64url')
    for (const query of [
      'currency=gold',
      'limit=0',
      'limit=201',
      'cursor=-1',
      `cursor=${cursor('-1.0')}`,
      `cursor=${cursor('1.-1')}`,
      `cursor=${cursor('1')}`,
      `cursor=${cursor('1.0.0')}`,
      `cursor=${cursor('9007199254740993.0')}`,
      `cursor=${cursor('1e3.0')}`,
    ]) {
      t.match(await user(1)('GET', `${PATH}?${query}`), { status: 422, body: { code: 'validation_failed' } }, query)
    }
    t.match(await user(1)('GET', `${PATH}?cursor=${cursor('9007199254740991.0')}&currency=`), { status: 200 })
  })

  await t.test("another user's account is shown as the user", async (t) => {
    const { ledger, user, database } = app
    await ledger.runOk(credit, { user_id: 1, currency: 'coins', amount: 5, reason: 'x' })
    // No rule moves value from one user to another directly; a later one may.
    await queryRows(
      database,
      `alter table ledger_events disable trigger user;
     update ledger_events set movements = replace(movements, 'ioperatorc', 'u2c') where position = (select position from ledger_head)`,
    )
    t.match((await read(t, user(1), `${PATH}?currency=coins`)).data, [{ counter_account: { user_id: 2 } }])
  })
})

test('while the index is more than 5,000 events behind, the list ends earlier and says where', async (t) => {
  const { ledger, user, database } = await createTestApp(t)
  await seedLedger(t, database)
  await runRandomCommands(ledger, 200)
  await addIdleEvents(database, BLOCK_EVENTS - ((await positionsOf(database)).head % BLOCK_EVENTS))
  await indexUpTo(database, (await positionsOf(database)).head)
  await addIdleEvents(database, 4_900)
  await runRandomCommands(ledger, 300)
  const { indexed, head } = await positionsOf(database)
  const end = indexed + 5_000
  t.ok(end < head)
  const page = await read(t, user(1), PATH)
  const pages = await readAll(t, user(1), '', 40)
  // The index moves on while a client reads page after page.
  const whileIndexed = await readAll(t, user(1), '', 30, async () => {
    await indexUpTo(database, (await positionsOf(database)).indexed + BLOCK_EVENTS)
  })
  await indexUpTo(database, head - 5_000)
  const whole = await readAll(t, user(1), '', 200)
  const expected = whole.filter(({ id }) => Number(id.split('-')[0]) <= end)
  t.ok(expected.length < whole.length)
  t.ok(Number(expected[0]?.id.split('-')[0]) > indexed + 4_900, 'some of it was searched')
  t.same(page.data, expected.slice(0, 50))
  t.equal(page.meta.indexed_up_to, end)
  t.same(pages, expected)
  t.same(whileIndexed, expected)
})

test('pages have every movement once, wherever the index ends and whatever arrives meanwhile', async (t) => {
  const { ledger, user, database } = await createTestApp(t)
  await seedLedger(t, database)
  await runRandomCommands(ledger, 700)
  const { head } = await positionsOf(database)
  const whole = await readAll(t, user(1), '', 200)
  t.ok(whole.length > 200)
  t.equal(new Set(whole.map(({ id }) => id)).size, whole.length)
  for (const upTo of [0, 300, 520, head]) {
    const indexed = await indexUpTo(database, upTo)
    const page = await read(t, user(1), PATH)
    t.equal(page.meta.indexed_up_to, indexed)
    t.equal(page.data.length, 50)
    t.same(await readAll(t, user(1), '', 100 + (indexed % 100)), whole)
  }
  for (const currency of ['coins', 'diamonds', 'target', 'dollars', 'agent_dollars']) {
    const own = whole.filter((item) => item.currency === currency)
    t.same(await readAll(t, user(1), `currency=${currency}`, 30), own)
    let balance = 0
    for (const item of own.toReversed()) {
      balance = Math.round((balance + Number(item.amount)) * 100) / 100
      t.equal(item.balance, balance)
    }
  }
  t.same(await readAll(t, user(1), '', 90, () => runRandomCommands(ledger, 20)), whole, 'while others arrive')
})
