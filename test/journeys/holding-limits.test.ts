import { test } from 'tap'
import { MAX_DECORATIONS } from '../../src/features/gifts/decoration.ts'
import { defineDecoration } from '../../src/features/gifts/define-decoration.ts'
import { definePackage, MAX_PACKAGES } from '../../src/features/privilege/package.ts'
import { defineCountry, MAX_COUNTRIES } from '../../src/features/users/country.ts'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { MAX_USERS_OF_ROLE } from '../../src/features/users/user.ts'
import { verifyDatabase } from '../audit/verify-database.ts'
import { createTestApp, type TestApp } from '../harness/app/test-app.ts'
import { createTestExecutor, queryRows, type TestExecutor } from '../harness/ledger/test-executor.ts'

const full = { status: 422, body: { code: 'holding_limit' } }

async function appWithGifts(t: Parameters<typeof createTestApp>[0]): Promise<TestApp> {
  const open = await createTestApp(t)
  const { operator } = open
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }, { id: 2 }] })
  await operator('PUT', '/admin/v1/privilege-packages/1', { name: 'Gold', rank: 1, valid_days: 30 })
  await operator('PUT', '/admin/v1/rooms/1', { uid: 'R1', owner_id: 2 })
  return open
}

const grant = ({ operator }: TestApp, user: number, quantity: number) =>
  operator('POST', `/admin/v1/users/${user}/cards`, { privilege_package_id: 1, quantity, reason: 'a prize' })

const gift = ({ operator }: TestApp, id: number) =>
  operator('PUT', `/admin/v1/decorations/${id}`, { name: `Gift ${id}`, kind: 'standard', price: 1 })

const put = ({ operator }: TestApp, decoration_id: number) =>
  operator('POST', '/admin/v1/users/1/bag', { decoration_id, quantity: 1, reason: 'a prize' })

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

test('what a user may hold and what lists may have', async (all) => {
  const open = await appWithGifts(all)
  const { operator, user, database, ledger } = open
  const [one, other] = [createTestExecutor(all, database.serviceUrl), createTestExecutor(all, database.serviceUrl)]

  await all.test('a wallet holds 2,000 stored cards; grants and transfers beyond are refused', async (t) => {
    t.equal((await grant(open, 1, 1_000)).status, 201)
    t.equal((await grant(open, 1, 999)).status, 201)
    const own = Object((await grant(open, 2, 1)).body).data[0].id
    t.match(await grant(open, 1, 2), full, 'refused whole')
    const last = Object((await grant(open, 1, 1)).body).data[0].id
    t.match(await grant(open, 1, 1), full)
    const transfer = (from: number, card: number, receiver_id: number) =>
      user(from)('POST', `/v1/privilege-wallet/${card}/transfer`, { receiver_id })
    t.match(await transfer(2, own, 1), full)
    t.match(await transfer(2, own, 9), { body: { code: 'validation_failed' } }, 'the receiver is checked first')
    const wallet = await user(1)('GET', '/v1/privilege-wallet')
    t.equal(Object(wallet.body).data.length, 2_000)
    t.ok(wallet.text.length < 1_048_576)
    // A user who sends or activates a card has room again.
    t.match(await transfer(1, last, 2), { status: 200 })
    t.match(await transfer(2, own, 1), { status: 200 })
    t.match(await grant(open, 1, 1), full)
    t.match(await user(1)('POST', `/v1/privilege-wallet/${own}/activate`), { status: 200 })
    // Both at once: only one fits.
    const both = await Promise.all([grant(open, 1, 1), grant(open, 1, 1)])
    t.same(
      both.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 422],
    )
  })

  await all.test('a bag counts its kinds as items are added and sent', async (t) => {
    for (const id of [1, 2, 3]) {
      await gift(open, id)
      await put(open, id)
    }
    const counts = () => queryRows(database, 'select user_id, kinds from bag_counts order by user_id')
    await put(open, 1)
    t.same(await counts(), [{ user_id: '1', kinds: '3' }])
    const to = { u_id: 1, user_id: [2], quantity: 1, room_id: 'R1', is_bag: true }
    const send = (decoration_id: number) => user(1)('POST', '/v1/instant-send', { ...to, decoration_id })
    t.match(await send(1), { status: 200 })
    t.same(await counts(), [{ user_id: '1', kinds: '3' }], 'one of two is left')
    for (const id of [1, 2, 3]) t.match(await send(id), { status: 200 })
    t.same(await counts(), [])
    t.match(await put(open, 2), { status: 201 })
  })

  await all.test('the catalogue holds 500 gifts, which can still be changed', async (t) => {
    await Promise.all(
      ids(4, MAX_DECORATIONS).map((decoration_id) =>
        one.runOk(defineDecoration, { decoration_id, name: `Gift ${decoration_id}`, kind: 'standard', price: 1 }),
      ),
    )
    t.match(await gift(open, 501), full)
    t.match(await operator('PUT', '/admin/v1/decorations/501', { kind: 'standard' }), {
      body: { code: 'validation_failed' },
    })
    t.match(await operator('PUT', '/admin/v1/decorations/7', { name: 'Another name' }), { status: 200 })
    const row = { multiplier: 0.0001, weight: 1_000_000 }
    const odds = (rows: number) =>
      operator('PUT', '/admin/v1/decorations/7', { kind: 'lucky', odds: Array.from({ length: rows }, () => row) })
    t.match(await odds(33), { status: 422, body: { errors: { odds: ['The list must hold at most 32.'] } } })
    t.match(await odds(32), { status: 200 })
  })

  await all.test(
    'lists that are answered whole are full at their limit, also for instances that add at once',
    async (t) => {
      const roles = { business_manager: true, charging_agent: true, allow_receive_withdraw_requests: true }
      const country = (id: number) => ({ id, name: `Country ${id}` })
      const packageOf = (id: number) => ({ privilege_package_id: id, name: `Package ${id}`, rank: 1, valid_days: 30 })
      const people = (from: number, to: number) => ({
        users: ids(from, to).map((id) => ({ ...roles, id })),
        listed: true,
      })
      await Promise.all([
        ...ids(1, MAX_COUNTRIES - 1).map((id) => one.runOk(defineCountry, country(id))),
        ...ids(2, MAX_PACKAGES - 1).map((id) => one.runOk(definePackage, packageOf(id))),
        one.runOk(defineUsers, people(11, 1_010)),
        one.runOk(defineUsers, people(1_011, MAX_USERS_OF_ROLE + 9)),
      ])
      const race = async (run: (executor: TestExecutor, id: number) => ReturnType<TestExecutor['run']>) => {
        const settled = await Promise.all(ids(3_001, 3_020).map((id) => run(id % 2 === 0 ? one : other, id)))
        return settled.map(({ reply }) => String(JSON.parse(reply.body).refusal ?? 'added')).toSorted()
      }
      const onlyOne = ['added', ...ids(2, 20).map(() => 'holding_limit')]
      t.same(await race(({ run }, id) => run(defineCountry, country(id))), onlyOne)
      t.same(await race(({ run }, id) => run(definePackage, packageOf(id))), onlyOne)
      t.same(await race(({ run }, id) => run(defineUsers, people(id, id))), onlyOne)
      t.match(await operator('PUT', '/admin/v1/countries/4000', { name: 'One more' }), full)
      t.match(await operator('PUT', '/admin/v1/users/4000', { business_manager: 1 }), full)
      for (const [path, length] of [
        ['/v1/countries', MAX_COUNTRIES],
        ['/v1/privilege-packages', MAX_PACKAGES],
        ['/v1/agency/business-managers', MAX_USERS_OF_ROLE],
        ['/v1/agency/target-withdraw-requests/charging-agents', MAX_USERS_OF_ROLE],
      ] as const) {
        t.equal(Object((await user(1)('GET', path)).body).data.length, length, path)
      }
      t.same([...one.bugs, ...other.bugs, ...ledger.bugs], [])
      t.same((await verifyDatabase(database)).findings, [])
    },
  )
})
