import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { ACCOUNT_PATTERN } from '../../../schema/common.ts'
import { chartOfAccounts } from '../../../src/audit/reports/chart-of-accounts.ts'
import { runAudit } from '../run-audit.ts'

const src = join(import.meta.dirname, '../../../src')

/** `house:gifts`, … as the code names them. */
function systemAccountsInCode(): string[] {
  const texts = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(src, name), 'utf8'))
  const names = texts.flatMap((text) =>
    [...text.matchAll(/\baccount\(\s*'(house|issuance)',\s*'([a-z_-]+)'/g)].map(([, kind, id]) => `${kind}:${id}`),
  )
  return [...new Set(names)].sort()
}

test('the chart of accounts has every kind, and every account of the system', async (t) => {
  const accounts = chartOfAccounts.map(({ account }) => account)
  const kinds = accounts.filter((account) => account.endsWith(':<id>')).map((account) => account.split(':')[0])
  const named = [...ACCOUNT_PATTERN.matchAll(/\(([a-z|]+)\):\[/g)].flatMap(([, list = '']) => list.split('|'))
  t.same(new Set(kinds), new Set(named))
  const own = accounts.filter((account) => /^(house|issuance):[^<]/.test(account))
  t.same(own.toSorted(), systemAccountsInCode())
  t.same(
    chartOfAccounts.filter(({ mayBeNegative }) => mayBeNegative).map(({ account }) => account.split(':')[0]),
    accounts
      .filter((account) => /^(debt|house|issuance|purchases):/.test(account))
      .map((account) => account.split(':')[0]),
  )
  const { code, out } = await runAudit({}, 'chart-of-accounts')
  t.equal(code, 0)
  for (const { account, mayBeNegative, meaning } of chartOfAccounts) {
    const line = out.split('\n').find((one) => one.startsWith(`${account} `))
    t.ok(line?.includes(mayBeNegative ? ' may be negative ' : ' never negative ') && line.endsWith(meaning), account)
  }
})
