import { test } from 'tap'
import { usersSlice } from '../../../src/features/users/slice.ts'
import { walletSlice } from '../../../src/features/wallet/slice.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'

const slices = [usersSlice, walletSlice]
const ids = Array.from({ length: 30 }, (_, i) => i + 1)

test('many wallets', async (t) => {
  const app = await createTestApp(t, slices)

  await t.test('a wallet shows every change that was answered before the request', async (t) => {
    const { operator, user } = app
    await operator('POST', '/admin/v1/users', { users: ids.map((id) => ({ id })) })
    let crowded = true
    const crowd = ids.slice(1, 9).map(async (id) => {
      while (crowded) await user(id)('GET', '/v1/wallet')
    })
    for (let coins = 1; coins <= 10; coins += 1) {
      await operator('POST', '/admin/v1/users/1/credits', { currency: 'coins', amount: 1, reason: 'test' })
      t.match(await user(1)('GET', '/v1/wallet'), { status: 200, body: { data: { coins } } })
    }
    crowded = false
    await Promise.all(crowd)
  })

  await t.test('wallets read in one batch are answered separately; an unknown user gets 404', async (t) => {
    const { operator, user, database } = app
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
})
