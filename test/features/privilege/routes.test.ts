import { test } from 'tap'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { dataOf, idsOf, instant } from '../answers.ts'

const second = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/
const DAY_MS = 86_400_000

test('cards and packages', async (t) => {
  const { operator, user, database, ledger } = await createTestApp(t)
  const people = Array.from({ length: 8 }, (_, i) => ({ id: i + 1, name: `User ${i + 1}` }))
  await operator('POST', '/admin/v1/users', { users: people })
  for (const id of [1, 2, 3]) {
    const body = { name: `Package ${id}`, rank: id, valid_days: 10 * id, icon_path: `icons/${id}.png` }
    await operator('PUT', `/admin/v1/privilege-packages/${id}`, body)
  }
  /** Grants a card and returns its id. */
  const granted = async (to: number, privilege_package_id: number) => {
    const body = { privilege_package_id, quantity: 1, reason: 'test' }
    return Number(dataOf(await operator('POST', `/admin/v1/users/${to}/cards`, body))[0].id)
  }
  const cardsOf = async (id: number) => dataOf(await user(id)('GET', '/api/v1/privilege-wallet'))
  const walletIds = async (id: number) => idsOf(await user(id)('GET', '/api/v1/privilege-wallet'))

  await t.test('an activated card leaves the wallet, and its privilege appears in GET /wallet', async (t) => {
    const ask = user(3)
    const [low, lower, high] = [await granted(3, 2), await granted(3, 1), await granted(3, 3)]
    const activate = (id: number | string) => ask('POST', `/api/v1/privilege-wallet/${id}/activate`)

    const before = Date.now()
    const begun = await activate(low)
    t.match(begun, { status: 200, body: { data: { days_added: 20, valid_until: second }, meta: { message: String } } })
    const until = dataOf(begun).valid_until
    const ends = Date.parse(`${until.replace(' ', 'T')}Z`)
    t.ok(ends > before + 20 * DAY_MS - 1_000 && ends <= Date.now() + 20 * DAY_MS)
    const wallet = dataOf(await ask('GET', '/api/v1/wallet'))
    t.same(wallet.privilege, { privilege_package_id: 2, name: 'Package 2', rank: 2, valid_until: until })
    t.same(await walletIds(3), [high, lower])

    t.match(await activate(lower), { status: 200, body: { data: { days_added: 4 } } })
    t.match(await activate(high), { status: 200, body: { data: { days_added: 30 } } })
    t.match(dataOf(await ask('GET', '/v1/wallet')).privilege, { privilege_package_id: 3, rank: 3 })
    t.same(await walletIds(3), [])
    t.match((await user(4)('GET', '/v1/wallet')).body, { data: { privilege: null } })

    await queryRows(database, 'update privileges set valid_until = extract(epoch from now())::bigint - 1')
    t.match((await ask('GET', '/v1/wallet')).body, { data: { privilege: null } }, 'an expired privilege')

    const other = await granted(4, 1)
    const refused: readonly (readonly [number | string, number, string])[] = [
      ['x', 404, 'not_found'],
      ['9'.repeat(15), 404, 'not_found'],
      ['9'.repeat(300), 404, 'not_found'],
      [other, 403, 'not_your_card'],
      [high, 422, 'card_already_activated'],
    ]
    for (const [id, status, code] of refused) t.match(await activate(id), { status, body: { code, message: String } })
    const badKey = await ask('POST', '/api/v1/privilege-wallet/abc/activate', undefined, { 'idempotency-key': '' })
    t.match(
      badKey,
      { status: 422, body: { errors: { 'Idempotency-Key': [String] } } },
      'the form of the key is checked first',
    )
  })

  await t.test('a transferred card is the newest in its new owner’s wallet', async (t) => {
    const ask = user(5)
    const own = await granted(6, 1)
    const [card, spent] = [await granted(5, 3), await granted(5, 1)]
    const [before] = (await cardsOf(5)).filter(({ id }: { id: number }) => id === card)
    const later = await granted(6, 2)
    const transfer = (id: number | string, receiver_id: unknown) =>
      ask('POST', `/api/v1/privilege-wallet/${id}/transfer`, { receiver_id })

    const sent = await transfer(card, 6)
    t.equal(sent.status, 200)
    t.same(sent.body, { meta: { message: 'The privilege was sent.' } })
    t.same(await walletIds(5), [spent])
    t.same(await walletIds(6), [card, later, own])
    const [after] = await cardsOf(6)
    t.same({ ...after, created_at: '' }, { ...before, created_at: '' })
    t.ok(after.created_at > before.created_at, 'the time at which it entered this wallet')

    await ask('POST', `/api/v1/privilege-wallet/${spent}/activate`)
    const kept = await granted(5, 1)
    const rows: readonly (readonly [number | string, unknown, number, string, readonly string[]])[] = [
      [kept, undefined, 422, 'validation_failed', ['receiver_id']],
      [kept, 0, 422, 'validation_failed', ['receiver_id']],
      ['x', 6, 404, 'not_found', []],
      [999_999, 1, 404, 'not_found', []],
      [kept, 99, 422, 'validation_failed', ['receiver_id']],
    ]
    for (const [id, receiver, status, code, fields] of rows) {
      const response = await transfer(id, receiver)
      t.match(response, { status, body: { code } }, `${id} to ${String(receiver)}`)
      t.same(Object.keys(Object(response.body).errors ?? {}), fields)
    }
    t.same(await walletIds(5), [kept])
  })

  await t.test('a retry grants, activates and sends nothing twice', async (t) => {
    const key = { 'idempotency-key': 'one' }
    const grant = { privilege_package_id: 3, quantity: 2, reason: 'a prize' }
    const twice = async (ask: () => Promise<{ status: number; text: string; headers: object }>, status: number) => {
      const [first, again] = [await ask(), await ask()]
      t.match(first, { status })
      t.match(again, { status, text: first.text, headers: { 'idempotency-replayed': 'true' } })
    }
    await twice(() => operator('POST', '/admin/v1/users/7/cards', grant, key), 201)
    const [first, second] = await walletIds(7)
    const ask = user(7)
    await twice(() => ask('POST', `/api/v1/privilege-wallet/${first}/activate`, {}, key), 200)
    t.match(await ask('POST', `/v1/privilege-wallet/${second}/activate`, {}, key), {
      status: 422,
      body: { code: 'idempotency_key_reused' },
    })
    const other = { 'idempotency-key': 'two' }
    await twice(() => ask('POST', `/api/v1/privilege-wallet/${second}/transfer`, { receiver_id: 8 }, other), 200)
    t.same(await walletIds(7), [])
    t.same(await walletIds(8), [second])
  })

  await t.test('cards are granted and listed, newest first, with every field', async (t) => {
    const body = { privilege_package_id: 3, quantity: 2, reason: 'a prize' }
    const made = await operator('POST', '/admin/v1/users/1/cards', body)
    t.equal(made.status, 201)
    const [newest, oldest] = dataOf(made)
    t.same(newest, {
      id: oldest.id + 1,
      privilege_package_id: 3,
      privilege_package_name: 'Package 3',
      icon_path: 'icons/3.png',
      icon_url: 'http://assets.test/icons/3.png',
      valid_days: 30,
      created_at: newest.created_at,
    })
    t.match(newest.created_at, instant)
    t.same((await user(1)('GET', '/v1/privilege-wallet/')).body, made.body)
    t.same((await user(2)('GET', '/api/v1/privilege-wallet')).body, { data: [] })

    const first = await granted(1, 1)
    t.same(await walletIds(1), [first, newest.id, oldest.id])
    await operator('PUT', '/admin/v1/privilege-packages/3', { name: 'Crown', valid_days: 5 })
    t.match((await cardsOf(1))[1], { privilege_package_name: 'Crown', valid_days: 30 })
    await granted(1, 3)
    t.match((await cardsOf(1))[0], { valid_days: 5 }, 'with the current days of the package')

    const refused: readonly (readonly [string, object, number, readonly string[]])[] = [
      ['1', {}, 422, ['privilege_package_id', 'quantity', 'reason']],
      ['1', { ...body, quantity: 0 }, 422, ['quantity']],
      ['1', { ...body, quantity: 1_001 }, 422, ['quantity']],
      ['1', { ...body, reason: '' }, 422, ['reason']],
      ['1', { ...body, privilege_package_id: 9 }, 422, ['privilege_package_id']],
      ['99', { ...body, privilege_package_id: 9 }, 404, []],
      ['x', body, 404, []],
    ]
    for (const [id, sent, status, fields] of refused) {
      const response = await operator('POST', `/admin/v1/users/${id}/cards`, sent)
      t.equal(response.status, status)
      t.same(Object.keys(Object(response.body).errors ?? {}).sort(), [...fields].sort())
    }
    t.match(await operator('POST', '/admin/v1/users/2/cards', { ...body, quantity: 1_000 }), { status: 201 })
    t.equal((await cardsOf(2)).length, 1_000)
  })

  await t.test('packages are created, changed field by field, and paged', async (t) => {
    const record = {
      id: 2,
      name: 'Package 2',
      rank: 2,
      valid_days: 20,
      icon_path: 'icons/2.png',
      icon_url: 'http://assets.test/icons/2.png',
      created_at: instant,
    }
    const read = await operator('GET', '/admin/v1/privilege-packages/2')
    t.match(read, { status: 200, body: { data: record } })
    const changed = await operator('PUT', '/admin/v1/privilege-packages/2', { rank: 7, cards: 5 })
    t.match(changed, { status: 200, body: { data: { ...record, rank: 7 } } })
    t.same(Object.keys(Object(changed.body).data), Object.keys(record))
    t.same(
      (await operator('PUT', '/admin/v1/privilege-packages/2')).body,
      changed.body,
      'a request without a body changes nothing',
    )
    const first = await operator('GET', '/admin/v1/privilege-packages?limit=2')
    t.match(first.body, { data: [{ id: 3 }, { id: 2 }], meta: { next_cursor: String } })
    const { next_cursor } = Object(Object(first.body).meta)
    t.match((await operator('GET', `/admin/v1/privilege-packages?limit=2&cursor=${next_cursor}`)).body, {
      data: [{ id: 1 }],
      meta: { next_cursor: null },
    })
    for (const id of ['4', '0', 'x']) t.equal((await operator('GET', `/admin/v1/privilege-packages/${id}`)).status, 404)
    const refused: readonly (readonly [object, readonly string[]])[] = [
      [{}, ['name', 'rank', 'valid_days']],
      [{ name: 'x'.repeat(101), rank: 1, valid_days: 1 }, ['name']],
      [{ name: 'x', rank: '1', valid_days: 0 }, ['rank', 'valid_days']],
      [{ name: 'x', rank: 1.5, valid_days: 36_501, icon_path: 5 }, ['rank', 'valid_days', 'icon_path']],
      [{ name: 'x', rank: 1, valid_days: 1, icon_path: 'x'.repeat(201) }, ['icon_path']],
    ]
    for (const [body, fields] of refused) {
      const response = await operator('PUT', '/admin/v1/privilege-packages/4', body)
      t.match(response, { status: 422, body: { code: 'validation_failed' } })
      t.same(Object.keys(Object(response.body).errors).sort(), [...fields].sort())
    }
  })
  t.same([...ledger.bugs, ...ledger.failures], [])
})
