import { createHash, createHmac } from 'node:crypto'
import { test } from 'tap'
import { genesis } from '../../src/ledger/rules/incarnation.ts'
import { createTestApp, type TestApp } from '../harness/app/test-app.ts'
import { queryRows, testOpening } from '../harness/ledger/test-executor.ts'

const odds = [
  { multiplier: 0, weight: 600 },
  { multiplier: 1.5, weight: 390 },
  { multiplier: 20, weight: 10 },
]

/** Users 1 to 3, user 3's room R1, a rose (1), a clover (2) with odds, and 10,000 diamonds for user 1. */
async function giftApp(t: Parameters<typeof createTestApp>[0]): Promise<TestApp> {
  const open = await createTestApp(t)
  const { operator, ledger } = open
  await ledger.runOk(genesis, testOpening)
  await operator('POST', '/admin/v1/users', { users: [1, 2, 3].map((id) => ({ id, name: `User ${id}` })) })
  await operator('PUT', '/admin/v1/rooms/1', { uid: 'R1', name: 'Lounge', owner_id: 3 })
  await operator('PUT', '/admin/v1/decorations/1', { name: 'Rose', kind: 'standard', price: 10 })
  await operator('PUT', '/admin/v1/decorations/2', { name: 'Clover', kind: 'lucky', price: 10, odds })
  await operator('POST', '/admin/v1/users/1/credits', { currency: 'diamonds', amount: 10_000, reason: 'test' })
  return open
}

const send = { u_id: 1, decoration_id: 1, user_id: [2, 3], quantity: 5, room_id: 'R1' }

test('gifts over HTTP', async (all) => {
  const { user, operator, ledger, database } = await giftApp(all)
  const ask = user(1)

  await all.test('a gift is sent, and changes the wallets', async (t) => {
    const sent = await ask('POST', '/api/v1/instant-send', send)
    t.match(sent, { status: 200, body: { data: { diamonds: 9_900, lucky_result: { code: 1 } } } })
    t.match((await ask('GET', '/api/v1/wallet')).body, { data: { diamonds: 9_900, target: 0, coins: 0, bag: [] } })
    t.match((await user(2)('GET', '/v1/wallet')).body, {
      data: { user: { id: 2, uid: 'u2' }, diamonds: 0, target: 50 },
    })
    t.match((await ask('GET', '/v1/rooms/R1')).body, { data: { trophy_points: 100 } })

    const one = { decoration_id: 1, quantity: 1, room_id: 1 }
    const toUser = (body: object) => ask('POST', '/api/v1/users/2/decorations/send', body)
    t.match(await toUser(one), { status: 200, body: { data: { diamonds: 9_890 } } })
    await operator('POST', '/admin/v1/users/1/bag', { decoration_id: 1, quantity: 3, reason: 'a prize' })
    const bagged = { ...one, quantity: 2, is_bag: '1' }
    t.match(await toUser(bagged), { body: { data: { diamonds: 9_890 } } })
    t.match(await toUser(bagged), { status: 422, body: { code: 'insufficient_items' } })
    const item = { decoration_id: 1, quantity: 1, name: 'Rose', image_path: '', image_url: '' }
    t.same((await ask('GET', '/api/v1/bag')).body, { data: [item] })
    t.match((await ask('GET', '/api/v1/wallet')).body, { data: { bag: [item] } })
  })

  await all.test('requests that routes refuse change nothing', async (t) => {
    const events = async () => (await queryRows(database, 'select position from ledger_head'))[0]?.['position']
    const before = await events()
    const rows: readonly (readonly [object, readonly string[]])[] = [
      [{}, ['u_id', 'decoration_id', 'user_id', 'quantity', 'room_id']],
      [{ ...send, u_id: 2, quantity: 0 }, ['quantity']],
      [{ ...send, u_id: '1' }, ['u_id']],
      [{ ...send, user_id: [] }, ['user_id']],
      [{ ...send, user_id: [2, 2] }, ['user_id']],
      [{ ...send, user_id: Array.from({ length: 101 }, (_, i) => i + 2) }, ['user_id']],
      [{ ...send, user_id: [1, 2] }, ['user_id']],
      [{ ...send, quantity: 10_000 }, ['quantity']],
      [{ ...send, quantity: 1.5 }, ['quantity']],
      [{ ...send, is_bag: 'yes' }, ['is_bag']],
      [{ ...send, room_id: '01' }, ['room_id']],
      [{ ...send, room_id: 'nowhere', user_id: [9] }, ['user_id', 'room_id']],
    ]
    for (const [body, fields] of rows) {
      const response = await ask('POST', '/api/v1/instant-send', body)
      t.match(response, { status: 422, body: { code: 'validation_failed' } }, JSON.stringify(body))
      t.same(new Set(Object.keys(Object(response.body).errors)), new Set(fields))
    }
    t.match(await ask('POST', '/v1/instant-send', { ...send, u_id: 2, decoration_id: 9 }), {
      status: 403,
      body: { code: 'not_the_sender' },
    })
    t.match(await ask('POST', '/v1/instant-send', { ...send, quantity: 501 }), {
      status: 422,
      body: { code: 'insufficient_balance' },
    })
    t.match(await ask('POST', '/v1/users/x/decorations/send', { decoration_id: 1, quantity: 1, room_id: 1 }), {
      status: 404,
    })
    t.equal(await events(), before)
    t.same([...ledger.bugs, ...ledger.failures], [])
  })

  await all.test('a retry changes nothing, whatever its prefix and the order of its fields', async (t) => {
    const key = { 'idempotency-key': 'one' }
    const sent = { ...send, u_id: 2, user_id: [1, 3], quantity: 1, decoration_id: 2 }
    const asSecond = user(2)
    await operator('POST', '/admin/v1/users/2/credits', { currency: 'diamonds', amount: 100, reason: 'test' })
    const first = await asSecond('POST', '/api/v1/instant-send', sent, key)
    const { room_id, ...rest } = { ...sent, is_bag: 0, unknown: 'field' }
    const retried = await asSecond('POST', '/v1/instant-send/', { room_id, ...rest }, key)
    t.equal(first.headers['idempotency-replayed'], undefined)
    t.match(retried, { status: 200, text: first.text, headers: { 'idempotency-replayed': 'true' } })
    const reused = { status: 422, body: { code: 'idempotency_key_reused' } }
    t.match(await asSecond('POST', '/v1/instant-send', { ...sent, quantity: 2 }, key), reused)
    t.match(await asSecond('POST', '/v1/instant-send', {}, key), { status: 422, body: { code: 'validation_failed' } })
    t.match(await asSecond('POST', '/v1/instant-send', sent, { 'idempotency-key': '' }), {
      status: 422,
      body: { errors: { 'Idempotency-Key': [/printable/] } },
    })
    const forbidden = () => ask('POST', '/v1/instant-send', sent, { 'idempotency-key': 'two' })
    const refused = await forbidden()
    t.match(await forbidden(), { status: 403, text: refused.text, headers: { 'idempotency-replayed': 'true' } })
    t.same(await queryRows(database, `select count(*)::text as sends from ledger where type = 'gift-drawn'`), [
      { sends: '1' },
    ])
  })

  await all.test('a player verifies draws by hand and by request', async (t) => {
    const chains = Object((await ask('GET', '/api/v1/fairness/lucky')).body).data
    const { incarnation } = testOpening
    t.match(chains, { incarnation, chain: '1-1', client_seed: '1', next: '1-2' })
    for (let i = 0; i < 5; i += 1) await ask('POST', '/api/v1/instant-send', { ...send, decoration_id: 2 })
    t.match((await ask('PUT', '/api/v1/fairness/lucky', { client_seed: 'my-seed' })).body, {
      data: { chain: '1-2', commitment: chains.next_commitment, client_seed: 'my-seed' },
    })
    t.match(await ask('PUT', '/api/v1/fairness/lucky', { client_seed: 'no spaces' }), { status: 422 })
    const sent = Object((await ask('POST', '/api/v1/instant-send', { ...send, decoration_id: 2 })).body).data

    const page = Object((await ask('GET', '/api/v1/fairness/lucky/draws?limit=4')).body)
    const rest = Object((await ask('GET', `/api/v1/fairness/lucky/draws?limit=4&cursor=${page.meta.next_cursor}`)).body)
    const draws = [...page.data, ...rest.data]
    t.same(
      draws.map(({ chain, k }) => `${chain} ${k}`),
      ['1-2 1', '1-1 5', '1-1 4', '1-1 3', '1-1 2', '1-1 1'],
    )
    t.equal(rest.meta.next_cursor, null)
    t.ok(draws.every((draw) => draw.incarnation === incarnation && draw.announced === true))
    t.match(
      draws[0].orders,
      sent.lucky_result.data.OrderList.map(({ order_id, reward_num }: never) => ({ order_id, reward_num })),
    )

    for (const draw of draws) {
      const commitment = draw.chain === '1-1' ? chains.commitment : chains.next_commitment
      let value = draw.link
      for (let i = 0; i < draw.k; i += 1) value = createHash('sha256').update(Buffer.from(value, 'hex')).digest('hex')
      t.equal(value, commitment, 'the link hashes to the published commitment')
      const table = Object((await ask('GET', `/api/v1/fairness/odds/${draw.odds_hash}`)).body).data
      t.same(table.odds, odds)
      draw.orders.forEach(({ r, reward_num }: { r: number; reward_num: number }, i: number) => {
        const label = `lg1|${draw.chain}|${draw.client_seed}|${draw.k}|${i}|0`
        const word = createHmac('sha256', Buffer.from(draw.link, 'hex')).update(label).digest().readBigUInt64BE(0)
        t.equal(r, Number(word % 1_000n))
        const multiplier = r < 600 ? 0 : r < 990 ? 1.5 : 20
        t.equal(reward_num, 50 * multiplier)
      })
      t.match((await ask('POST', '/api/v1/fairness/verify', draw)).body, { data: { valid: true } })
    }
    const forged = { ...draws[0], orders: [{ ...draws[0].orders[0], reward_num: 1_000 }] }
    t.match((await ask('POST', '/api/v1/fairness/verify', forged)).body, { data: { valid: false } })
    const { stake, ...unstaked } = draws[0]
    const verdict = async (draw: object) => Object((await ask('POST', '/api/v1/fairness/verify', draw)).body).data.valid
    t.equal(await verdict(unstaked), true, 'the stake of a draw of this ledger is known')
    t.equal(await verdict({ ...unstaked, orders: forged.orders }), false, 'and the reward is compared with it')
    t.equal(await verdict({ ...draws[0], stake: stake * 1_000 }), false, 'another stake')
    t.equal(await verdict({ ...unstaked, odds_hash: undefined, odds: [{ multiplier: 10_000, weight: 1 }] }), false)
    t.equal(
      await verdict({ ...draws[0], commitment: 'ab'.repeat(32) }),
      false,
      'a commitment other than the published one',
    )
    t.equal(await verdict({ ...draws[0], commitment: chains.next_commitment }), true)
    t.equal(await verdict({ ...draws[0], announced: '1' }), true)
    t.equal(await verdict({ ...draws[0], announced: false }), false, 'the ledger says that it was announced')
    t.equal(await verdict({ ...draws[0], incarnation: undefined, announced: undefined }), true)
    t.equal(await verdict({ ...draws[0], incarnation: 'ab'.repeat(16) }), false, 'another incarnation')
    const [order, ...others] = draws[0].orders
    t.equal(await verdict({ ...draws[0], orders: [{ ...order, order_id: '1-0' }, ...others] }), false, 'another order')
    t.equal(
      await verdict({ ...draws[0], odds: [{ multiplier: 1, weight: 1_000 }] }),
      false,
      'odds that do not match the hash',
    )
    t.match(await ask('GET', `/api/v1/fairness/odds/${'0'.repeat(64)}`), { status: 404 })
    t.match(await ask('GET', '/api/v1/fairness/lucky/draws?cursor=bm9uZQ'), {
      status: 422,
      body: { errors: { cursor: [/cursor/] } },
    })
  })

  await all.test('a page of draws ends early where sends have many orders', async (t) => {
    const receivers = Array.from({ length: 100 }, (_, i) => 101 + i)
    await operator('POST', '/admin/v1/users', { users: receivers.map((id) => ({ id })) })
    await operator('POST', '/admin/v1/users/3/credits', { currency: 'diamonds', amount: 1_000_000, reason: 'test' })
    const asOwner = user(3)
    const give = (user_id: readonly number[]) =>
      asOwner('POST', '/v1/instant-send', { ...send, u_id: 3, quantity: 1, decoration_id: 2, user_id })
    await Promise.all(Array.from({ length: 30 }, () => give(receivers)))
    await Promise.all(Array.from({ length: 210 }, () => give(receivers.slice(0, 1))))
    const pages: { readonly sends: readonly number[]; readonly orders: number; readonly next: string | null }[] = []
    for (let cursor = ''; cursor !== null; ) {
      const { data, meta } = Object((await asOwner('GET', `/v1/fairness/lucky/draws?limit=200&cursor=${cursor}`)).body)
      const orders = data.reduce((sum: number, draw: { orders: unknown[] }) => sum + draw.orders.length, 0)
      pages.push({ sends: data.map(({ k }: { k: number }) => k), orders, next: meta.next_cursor })
      cursor = meta.next_cursor
    }
    t.equal(pages[0]?.sends.length, 200, 'as many as requested')
    t.same(
      pages.flatMap(({ sends }) => sends),
      Array.from({ length: 240 }, (_, i) => 240 - i),
      'all sends, each once',
    )
    for (const { orders } of pages) t.ok(orders > 0 && orders < 1_500, `${orders} orders`)
    t.equal(Object((await asOwner('GET', '/v1/fairness/lucky/draws?limit=1')).body).data.length, 1)

    const [second, first] = Object(
      (await asOwner('GET', `/v1/fairness/lucky/draws?cursor=${pages.at(-2)?.next}`)).body,
    ).data.slice(-2)
    t.match(
      [first, second],
      [
        { k: 1, announced: false },
        { k: 2, announced: true },
      ],
    )
    const verdict = Object((await asOwner('POST', '/api/v1/fairness/verify', first)).body).data
    t.equal(verdict.valid, true, 'nothing was asked before the first send')
    t.match(
      verdict.steps.filter(({ step }: { step: string }) => step === 'link' || step === 'announced'),
      [
        { why: 'hashing the link 1 times gives the commitment published with the draw' },
        { ok: true, why: /^the chain was opened by the send itself/, values: { announced: false } },
      ],
    )
  })
})
