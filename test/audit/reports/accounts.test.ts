import { test } from 'tap'
import { readAccountPage } from '../../../src/audit/reports/accounts/account-page.ts'
import { readBalanceSeries, seriesOf } from '../../../src/audit/reports/accounts/balance-series.ts'
import { type AccountListQuery, listAccounts } from '../../../src/audit/reports/accounts/list-accounts.ts'
import type { NumberedEntry, Place } from '../../../src/ledger/indexes/latest-entries.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { grownLedger, indexUpTo, movementsOf, readLedger } from '../../ledger/indexes/index-fixture.ts'
import { appWithLedger } from '../routes/ledger-fixture.ts'

test('accounts are listed and shown as of a position, wherever the index ends', async (t) => {
  const database = await grownLedger()
  const db = readDb(t, database)
  const movements = movementsOf(await readLedger(database))
  const head = movements.at(-1)?.position ?? 0
  const balancesAt = (upTo: number): Map<string, bigint> =>
    new Map(movements.filter(({ position }) => position <= upTo).map(({ account, balance }) => [account, balance]))

  const listAll = async (query: AccountListQuery) => {
    const found: [string, bigint][] = []
    let { cursor } = query
    do {
      const { accounts, next } = await listAccounts(db, { ...query, cursor })
      found.push(...accounts.map(({ account, balance }): [string, bigint] => [account, balance]))
      cursor = next ?? undefined
    } while (cursor !== undefined)
    return found
  }
  const byName = ([a]: [string, bigint], [b]: [string, bigint]): number => (a < b ? -1 : 1)
  const bySize = (a: [string, bigint], b: [string, bigint]): number =>
    a[1] === b[1] ? byName(a, b) : a[1] < b[1] ? 1 : -1
  const byNegative = (a: [string, bigint], b: [string, bigint]): number =>
    a[1] === b[1] ? byName(a, b) : a[1] < b[1] ? -1 : 1

  const compare = async (): Promise<void> => {
    for (const upTo of [1, 12, 777, head]) {
      const all = [...balancesAt(upTo)]
      const list = async (query: Partial<AccountListQuery>) => listAll({ sort: 'account', limit: 10, upTo, ...query })
      t.same(await list({}), all.toSorted(byName), `by name, up to ${upTo}`)
      t.same(await list({ sort: 'largest' }), all.toSorted(bySize), `largest, up to ${upTo}`)
      t.same(await list({ sort: 'smallest', limit: 9 }), all.toSorted(byNegative), `smallest, up to ${upTo}`)
      const only = (test: (account: string) => boolean) => all.filter(([account]) => test(account)).toSorted(byName)
      t.same(
        await list({ kind: 'user', currency: 'diamonds' }),
        only((account) => /^user:.*:diamonds$/.test(account)),
      )
      t.same(
        await list({ q: '2' }),
        only((account) => account.includes(':2:')),
      )
      t.same(
        await list({ q: 'gift' }),
        only((account) => account.includes(':gifts:')),
      )
      t.same(
        await list({ q: 'us', sort: 'largest' }),
        all.filter(([account]) => account.startsWith('user:')).toSorted(bySize),
      )
      t.same(await list({ q: '%' }), [])
      for (const account of ['user:1:diamonds', 'house:gifts:diamonds', 'user:99:coins']) {
        for (const first of [1, 333]) {
          const expected = movements.filter(
            (entry) => entry.account === account && entry.position >= first && entry.position <= upTo,
          )
          const found: unknown[] = []
          const read: NumberedEntry[] = []
          let before: Place | undefined
          do {
            const page = await readAccountPage(db, account, { first, last: upTo, before, limit: 300 })
            t.equal(page.balance, balancesAt(upTo).get(account) ?? 0n)
            read.push(...page.movements)
            found.push(
              ...page.movements.map(({ position, leg, counter, amount, balance }) => ({
                account,
                position,
                leg,
                counter,
                amount,
                balance,
              })),
            )
            before = page.next ?? undefined
          } while (before !== undefined)
          t.same(found, expected.toReversed(), `${account} from ${first} to ${upTo}`)
          const series = await readBalanceSeries(db, account, { first, last: upTo })
          t.ok(series.points.length <= 200)
          t.equal(series.opening, balancesAt(first - 1).get(account) ?? 0n)
          t.equal(series.points.at(-1)?.balance, expected.at(-1)?.balance)
          t.strictSame(
            series.points.filter(
              ({ position, balance }) => balance !== expected.findLast((entry) => entry.position === position)?.balance,
            ),
            [],
          )
          if (series.isComplete) t.equal(series.points.length, expected.length)
          const whole = seriesOf(series.opening, read.toReversed())
          if (read.length <= 100) {
            t.same(
              { ...whole, points: whole.points.map(({ position, at, balance }) => ({ position, at, balance })) },
              series,
              'of movements that were read already',
            )
          }
        }
      }
    }
  }
  await compare()
  await indexUpTo(database, 1_100)
  await compare()
  await indexUpTo(database, head)
  await compare()
})

test('an account is shown with what was on hold as of a position, and why', async (t) => {
  const { database } = await appWithLedger(t)
  const db = readDb(t, database)
  const entries = await readLedger(database)
  const compare = async (): Promise<void> => {
    const pending = new Map<number, { account: string; position: number; reason: string; amount: bigint }>()
    for (const { position, type, data } of entries) {
      const fields = JSON.parse(data)
      if (type === 'withdrawal-requested') {
        const account = `user:${fields.user_id}:${fields.wallet}`
        pending.set(position, { account, position, reason: `${fields.type} withdrawal`, amount: BigInt(fields.amount) })
      } else if (type === 'withdrawal-status-changed') {
        pending.delete(fields.withdrawal_id)
      } else if (position !== entries.length) {
        continue
      }
      for (const account of ['user:1:dollars', 'user:1:agent_dollars', 'user:1:diamonds']) {
        const page = await readAccountPage(db, account, { first: 1, last: position, limit: 1 })
        const expected = [...pending.values()].filter((hold) => hold.account === account)
        t.same(page.holds, expected, `${account} as of ${position}`)
        t.equal(
          page.available,
          expected.reduce((rest, { amount }) => rest - amount, page.balance),
        )
      }
    }
    t.ok(pending.size > 0)
  }
  await compare()
  await indexUpTo(database, entries.length)
  await compare()
})
