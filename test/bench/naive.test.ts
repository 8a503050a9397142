import { test } from 'tap'
import { createPositions } from '../../scripts/bench/baselines/naive-gifts.ts'
import { naiveSlice } from '../../scripts/bench/baselines/naive-slice.ts'
import { createDemoApp } from '../harness/app/demo-app.ts'
import { bearer, createMinimalApp, token } from '../harness/app/minimal-app.ts'
import type { TestResponse } from '../harness/app/test-app.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { openTestPool } from '../harness/postgres/connections.ts'

test('the naive implementation of the benches answers as the service does', async (t) => {
  const { user, operator, database } = await createDemoApp(t)
  const done = async (answer: Promise<TestResponse>): Promise<TestResponse> => {
    const response = await answer
    if (response.status >= 300) throw new Error(response.text)
    return response
  }
  await done(operator('POST', '/admin/v1/users/1/bag', { decoration_id: 3, quantity: 2, reason: 'a prize' }))
  const cards = Object(await done(user(1)('GET', '/api/v1/privilege-wallet'))).body.data
  await done(user(1)('POST', `/api/v1/privilege-wallet/${cards[0].id}/activate`))
  const lucky = { u_id: 1, decoration_id: 3, user_id: [2, 3], quantity: 2, room_id: 1 }
  for (let i = 0; i < 2; i += 1) await done(user(1)('POST', '/api/v1/instant-send', lucky))
  const withdrawal = { type: 'gold_agent', target_user_id: 4, beneficiary_user_id: 2, country_id: 1 }
  const requests = '/api/v1/agency/target-withdraw-requests/request'
  await done(user(1)('POST', requests, { ...withdrawal, amount_in_dollars: '5.00' }))

  const pool = openTestPool(t, database.serviceUrl, 2)
  const { app: naive } = await createMinimalApp(t, { slices: [naiveSlice(pool)] })
  const ask = async (id: number, path: string) => {
    const headers = bearer(token({ sub: String(id) }))
    const { statusCode, body } = await naive.inject({ url: path, headers })
    if (statusCode !== 200) throw new Error(body)
    return JSON.parse(body)
  }
  const compareReads = async (): Promise<void> => {
    for (const path of ['/api/v1/wallet', '/api/v1/rooms/R1']) {
      const both = [1, 2].map(async (id) => [await ask(id, path), (await done(user(id)('GET', path))).body])
      for (const [theirs, ours] of await Promise.all(both)) t.strictSame(theirs, ours, path)
    }
  }
  await compareReads()

  const gift = { u_id: 1, decoration_id: 1, user_id: [2], quantity: 3, room_id: 1 }
  const ours = Object((await done(user(1)('POST', '/api/v1/instant-send', gift))).body).data
  await queryRows(database, createPositions)
  const headers = bearer(token({ sub: '1' }))
  const sent = await naive.inject({ method: 'POST', url: '/api/v1/instant-send', headers, payload: gift })
  t.equal(sent.statusCode, 200, sent.body)
  const theirs = sent.json().data
  t.equal(theirs.diamonds, ours.diamonds - 30)
  const [ourOrder, theirOrder] = [ours, theirs].map(({ lucky_result }) => lucky_result.data.OrderList[0])
  t.strictSame(
    { ...theirs.lucky_result.data, OrderList: [{ ...theirOrder, order_id: ourOrder.order_id }] },
    ours.lucky_result.data,
  )
  await compareReads()
})
