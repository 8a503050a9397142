import { test } from 'tap'
import { AccountSums } from '../../../src/audit/reports/account-totals.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { runAudit } from '../run-audit.ts'
import { seededLedger } from '../seed-ledger.ts'

test('sums of more accounts than are kept in memory are the same', async (t) => {
  const ids = Array.from({ length: 200 }, (_, i) => ((i * 37) % 60) + 1)
  const sumsWith = (maxInMemory: number) => {
    using sums = new AccountSums(maxInMemory)
    for (const [i, id] of ids.entries()) {
      const amount = i % 3 === 0 ? -i : i
      const add = (code: string, change: number): void =>
        i < 50 ? sums.addOpening(code, change) : sums.add(code, change)
      add(`u${id}${i % 2 === 0 ? 'c' : '$'}`, amount)
      add('ioperatorc', -amount)
    }
    return [...sums.sorted()]
  }
  const whole = sumsWith(1_000)
  for (const maxInMemory of [1, 7, 60]) t.same(sumsWith(maxInMemory), whole, `${maxInMemory}`)
  const names = whole.map(({ account }) => account)
  t.equal(new Set(names).size, names.length)
  const coins = names.filter((name) => name.startsWith('user:') && name.endsWith(':coins'))
  t.same(names.slice(0, coins.length + 1), ['issuance:operator:coins', ...coins], 'by currency and kind')
  const numbers = coins.map((name) => Number(name.split(':')[1]))
  t.same(
    numbers,
    numbers.toSorted((a, b) => a - b),
    'and by number',
  )
})

test('a trial balance by account has opening, debits, credits and closing of a period', async (t) => {
  const database = await seededLedger()
  const env = { DATABASE_URL: database.serviceUrl }
  const { code, out, err } = await runAudit(env, 'trial-balance', '--by', 'account', '--from', '9', '--csv')
  t.equal(code, 0)
  t.match(err, /^trial-balance --by account --from 9 --csv\npositions 9 to 22, \S+Z to \S+Z\n$/)
  const [header = '', ...lines] = out.trimEnd().split('\n')
  t.equal(header, 'currency,kind,account,opening,debits,credits,closing,from_position,to_position,to_at')
  const expected = await queryRows(
    database,
    `select account,
            coalesce(sum(change) filter (where position < 9), 0)::text as opening,
            coalesce(-sum(change) filter (where position >= 9 and change < 0), 0)::text as debits,
            coalesce(sum(change) filter (where position >= 9 and change > 0), 0)::text as credits,
            sum(change)::text as closing
     from (select position, debit as account, -amount as change from ledger_movements
           union all select position, credit, amount from ledger_movements) sides
     group by account`,
  )
  const units = (currency: string, amount: string): string =>
    currency.endsWith('dollars') ? String(BigInt(amount.replace('.', ''))) : amount
  t.same(
    lines
      .map((line) => {
        const [currency = '', kind, account = '', ...amounts] = line.split(',')
        t.same([currency, kind], [account.split(':')[2], account.split(':')[0]])
        if (currency.endsWith('dollars')) for (const amount of amounts.slice(0, 4)) t.match(amount, /^-?\d+\.\d\d$/)
        const [opening = '', debits = '', credits = '', closing = ''] = amounts.slice(0, 4)
        return { account, opening, debits, credits, closing, currency }
      })
      .map(({ currency, account, ...amounts }) => ({
        account,
        ...Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, units(currency, amount)])),
      }))
      .toSorted((a, b) => (a.account < b.account ? -1 : 1)),
    expected.toSorted((a, b) => (String(a['account']) < String(b['account']) ? -1 : 1)),
  )

  const text = (await runAudit(env, 'trial-balance', '--by', 'account', '--as-of', '22')).out.split('\n')
  t.same(text[2]?.trim().split(/\s+/), ['account', 'opening', 'debits', 'credits', 'closing'])
  t.ok(text.some((line) => /^user:2:dollars +0\.00 +0\.00 +12\.99 +12\.99$/.test(line)))
  t.ok(text.some((line) => /^all dollars +0\.00 +12\.99 +12\.99 +0\.00$/.test(line)))
  const { accounts, totals } = JSON.parse((await runAudit(env, 'trial-balance', '--by', 'account', '--json')).out)
  t.equal(accounts.length, lines.length)
  for (const { opening, closing } of totals) t.same([opening, closing], [0, 0])

  const kinds = await runAudit(env, 'trial-balance', '--csv')
  t.match(kinds.out, /^currency,kind,balance,accounts,position,at\n/)
  t.match(kinds.out, /^dollars,issuance,-12\.99,1,22,20\S+Z$/m)
  for (const args of [
    ['--from', '9'],
    ['--by', 'account', '--as-of', '9', '--to', '9'],
    ['--csv', '--json'],
  ]) {
    t.match(await runAudit(env, 'trial-balance', ...args), { code: 2, out: '' }, args.join(' '))
  }
})
