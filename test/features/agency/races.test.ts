import { test } from 'tap'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { createTestApp, type TestResponse } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { agencyApp, cash, dataOf, gold, requests, transfers } from './agency-fixture.ts'

const codes = (responses: readonly TestResponse[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { status, body } of responses) {
    const code = status < 300 ? String(status) : String(Object(body).code)
    counts[code] = (counts[code] ?? 0) + 1
  }
  return counts
}

test('races on two instances', async (t) => {
  const one = await agencyApp(t)
  const other = await createTestApp(t, { database: one.database })

  await t.test(
    'of 50 concurrent requests for 20 dollars with 90 available, on two instances, exactly 4 succeed',
    async (t) => {
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          (i % 2 === 0 ? one : other).user(1)('POST', `${requests}/request`, i % 3 === 0 ? cash : gold),
        ),
      )
      t.same(codes(responses), { 201: 4, insufficient_balance: 46 })
      t.match((await one.user(1)('GET', '/v1/wallet')).body, {
        data: { wallet_dollars_count: 90, pending_dollars: 80, available_dollars: 10 },
      })
    },
  )

  await t.test('requests, transfers, debits and changes at once never spend a cent twice', async (t) => {
    const at = (i: number) => (i % 2 === 0 ? one : other)
    const earlier = await Promise.all([1, 2, 3].map(() => one.user(2)('POST', `${requests}/request`, gold)))
    const ids = earlier.map((responses) => Number(dataOf(responses).id))
    const shots = Array.from({ length: 60 }, (_, i): (() => Promise<TestResponse>) => {
      const { user, operator } = at(i)
      const id = ids[i % ids.length]
      switch (i % 6) {
        case 0:
          return () => user(2)('POST', `${requests}/request`, { ...cash, amount_in_dollars: 7 })
        case 1:
          return () => user(2)('POST', `${transfers}/request`, { dollars: '3.33', user_id: 2 })
        case 2:
          return () => operator('POST', '/admin/v1/users/2/debits', { currency: 'dollars', amount: '2.5', reason: 'x' })
        case 3:
          return () => user(4)('POST', `${requests}/${id}/status`, { status: 'approved' })
        case 4:
          return () => user(2)('POST', `${requests}/${id}/status`, { status: 'rejected' })
        default:
          return () => operator('POST', `/admin/v1/withdrawals/${id}/status`, { status: 'transferred' })
      }
    })
    const responses = await Promise.all(shots.map((fire) => fire()))
    t.notOk(responses.some(({ status }) => status >= 500))
    const [row] = await queryRows(
      one.database,
      `select b.balance - coalesce(h.held, 0) >= 0 as covered, coalesce(h.held, 0) = (
         select coalesce(sum(amount), 0) from withdrawals where status = 'pending' and user_id = 2) as explained
       from balances b left join holds h using (account) where account = 'user:2:dollars'`,
    )
    t.same(row, { covered: 't', explained: 't' })
    const kept = await queryRows(
      one.database,
      `select sum(balance)::text as sum from balances where account ~ '^(user:2|withdrawal:.*|settled:.*|house:exchange):dollars$'`,
    )
    const debits = responses.filter(
      ({ status, body }) => status === 201 && Object(body).data.account !== undefined,
    ).length
    t.same(kept, [{ sum: String(9_000 - 250 * debits) }], 'no dollar is lost')
  })
  t.same((await verifyDatabase(one.database)).findings, [])
  t.same([...one.ledger.bugs, ...other.ledger.bugs], [])
})
