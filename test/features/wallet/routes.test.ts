import { test } from 'tap'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'

test('a wallet shows every change that was answered before the request; without a profile there is none', async (t) => {
  const { operator, user, database } = await createTestApp(t)
  const others = [2, 3, 4, 5, 6, 7, 8, 9]
  await operator('POST', '/admin/v1/users', { users: [1, ...others].map((id) => ({ id })) })
  let crowded = true
  const crowd = others.map(async (id) => {
    while (crowded) await user(id)('GET', '/v1/wallet')
  })
  for (let coins = 1; coins <= 10; coins += 1) {
    await operator('POST', '/admin/v1/users/1/credits', { currency: 'coins', amount: 1, reason: 'test' })
    t.match(await user(1)('GET', '/v1/wallet'), { status: 200, body: { data: { coins } } })
  }
  crowded = false
  await Promise.all(crowd)
  await queryRows(database, 'delete from user_profiles where user_id = 9')
  t.match(await user(9)('GET', '/v1/wallet'), { status: 404, body: { code: 'not_found' } })
})
