import { test } from 'tap'
import { usersSlice } from '../../../src/features/users/slice.ts'
import { walletSlice } from '../../../src/features/wallet/slice.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'

const slices = [usersSlice, walletSlice]
const ids = Array.from({ length: 30 }, (_, i) => i + 1)

test('wallets read in one batch are answered separately; an unknown user gets 404', async (t) => {
  const { operator, user, database } = await createTestApp(t, slices)
  await operator('POST', '/admin/v1/users', { users: ids.map((id) => ({ id, name: `user ${id}` })) })
  for (const id of ids.slice(0, 5)) {
    await operator('POST', `/admin/v1/users/${id}/credits`, { currency: 'diamonds', amount: id, reason: 'test' })
  }
  await queryRows(database, 'delete from user_profiles where user_id > 28')
  const asked = [...ids, 1, 1, ...ids.toReversed()]
  const answers = await Promise.all(asked.map((id) => user(id)('GET', '/v1/wallet')))
  for (const [i, id] of asked.entries()) {
    const expected =
      id > 28
        ? { status: 404, body: { code: 'not_found' } }
        : { status: 200, body: { data: { user: { id, name: `user ${id}` }, diamonds: id <= 5 ? id : 0, bag: [] } } }
    t.match(answers[i], expected, `user ${id}`)
  }
})

test('a wallet shows every change that was answered before the request', async (t) => {
  const { operator, user } = await createTestApp(t, slices)
  await operator('POST', '/admin/v1/users', { users: ids.map((id) => ({ id })) })
  let crowded = true
  const crowd = ids.slice(1).map(async (id) => {
    while (crowded) await user(id)('GET', '/v1/wallet')
  })
  for (let coins = 1; coins <= 20; coins += 1) {
    await operator('POST', '/admin/v1/users/1/credits', { currency: 'coins', amount: 1, reason: 'test' })
    t.match(await user(1)('GET', '/v1/wallet'), { status: 200, body: { data: { coins } } })
  }
  crowded = false
  await Promise.all(crowd)
})

test('a wallet that cannot be read fails alone', async (t) => {
  const { operator, user, database } = await createTestApp(t, slices)
  await operator('POST', '/admin/v1/users', { users: ids.map((id) => ({ id })) })
  await queryRows(
    database,
    `with package as (
       insert into privilege_packages (privilege_package_id, name, rank, valid_days, icon_path, created_at)
       values (1, 'VIP', 1, 1, '', now()) returning privilege_package_id)
     insert into privileges (user_id, privilege_package_id, rank, valid_until)
     select user_id, privilege_package_id, 1, case user_id when 3 then ${Number.MAX_SAFE_INTEGER} else 4102444800 end
     from package, (values (2), (3)) as u (user_id)`,
  )
  const answers = await Promise.all(ids.map((id) => user(id)('GET', '/v1/wallet')))
  t.same(
    ids.filter((_, i) => answers[i]?.status !== 200),
    [3],
  )
  t.match(answers[2], { status: 500 })
  const privilege = { privilege_package_id: 1, name: 'VIP', rank: 1, valid_until: '2100-01-01 00:00:00' }
  t.match(answers[1], { body: { data: { user: { id: 2 }, privilege } } })
})
