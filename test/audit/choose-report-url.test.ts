import { test } from 'tap'
import { copyOf, testDatabase } from '../harness/postgres/test-database.ts'
import { unreachableUrl } from '../harness/postgres/unreachable-url.ts'
import { runAudit } from './run-audit.ts'
import { seededLedger } from './seed-ledger.ts'
import { tamper } from './verify-database.ts'

test('the audit reads a standby that has all of the ledger, else says why it reads the primary', async (t) => {
  const empty = await testDatabase()
  const behind = await copyOf(empty)
  const primary = await seededLedger()
  const run = (standbyUrl: string) =>
    runAudit({ DATABASE_URL: primary.serviceUrl, DATABASE_READ_URL: standbyUrl }, 'trial-balance', '--as-of', '22')

  const own = await run(primary.serviceUrl)
  t.match(own, { code: 0, err: '' })
  for (const [url, reason] of [
    [behind.serviceUrl, 'it is at position 0, behind 22'],
    [unreachableUrl, /.*ECONNREFUSED.*/],
  ] as const) {
    const { code, out, err } = await run(url)
    t.same([code, out], [0, own.out])
    t.match(err, reason)
    t.match(err, /^reading DATABASE_URL instead of DATABASE_READ_URL: .*\n$/)
  }
  const other = await seededLedger()
  await tamper(other, `update shown_events set hash = repeat('0', 64) where position = 22`)
  t.match(await run(other.serviceUrl), { code: 0, out: own.out, err: /: it holds another ledger\n$/ })
})
