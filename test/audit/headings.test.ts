import { test } from 'tap'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { utcDay } from '../harness/utc-day.ts'
import { runAudit } from './run-audit.ts'
import { seededLedger } from './seed-ledger.ts'

test('reports begin with what was asked, the last position and its time', async (t) => {
  const database = await seededLedger()
  const env = { DATABASE_URL: database.serviceUrl }
  const times = await queryRows(
    database,
    `select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from ledger order by position`,
  )
  const at = (position: number): string => String(times[position - 1]?.['at'])
  const asOfHead = `as of position 22, ${at(22)}`
  const cases: [args: string[], heading: string[]][] = [
    [['trial-balance'], [asOfHead]],
    [['trial-balance', '--as-of', '9'], [`as of position 9, ${at(9)}`]],
    [['trial-balance', '--as-of', at(12)], [`as of position 12, ${at(12)}`]],
    [
      ['explain', '--user', '2', '--currency', 'dollars'],
      [asOfHead, 'user:2:dollars'],
    ],
    [['draws'], [asOfHead]],
    [
      ['statement', '--account', 'user:2:dollars', '--from', '5', '--to', '12'],
      [`positions 5 to 12, ${at(5)} to ${at(12)}`],
    ],
    [['statement', '--account', 'user:2:dollars', '--from', '5', '--to', '5'], [`position 5, ${at(5)}`]],
    [
      ['statement', '--account', 'user:2:dollars', '--to', '2020-01-31'],
      ['no events, after position 0', 'opening balance 0.00'],
    ],
  ]
  for (const [args, heading] of cases) {
    const { code, out } = await runAudit(env, ...args)
    t.same([code, out.split('\n').slice(0, heading.length + 1)], [0, [args.join(' '), ...heading]])
  }
  const { out } = await runAudit(env, 'statement', '--account', 'user:2:dollars', '--from', '5', '--json')
  t.match(JSON.parse(out), {
    asked: 'statement --account user:2:dollars --from 5 --json',
    from_position: 5,
    from_at: at(5),
    position: 22,
    at: at(22),
    until_now: null,
    closing: 1299,
  })

  const today = utcDay()
  const running = await Promise.all([
    runAudit(env, 'trial-balance', '--as-of', today),
    runAudit(env, 'statement', '--account', 'user:2:dollars', '--to', today),
  ])
  const untilNow = new RegExp(`^${today} is not over: until now, ${today}T\\S+Z$`)
  if (today === utcDay()) for (const report of running) t.match(report.out.split('\n')[2], untilNow)

  const bounds = `The ledger has events from ${at(1)} (position 1) to ${at(22)} (position 22).`
  for (const [asOf, fault] of [
    ['2020-01-31', 'The time is before the first event'],
    ['2099-01-31', 'The time is in the future'],
  ] as const) {
    const err = `audit could not run: --as-of: ${fault}. ${bounds}\n`
    t.same(await runAudit(env, 'trial-balance', '--as-of', asOf), { code: 2, out: '', err })
  }
})

test('a ledger without events has no time to report as of', async (t) => {
  const { serviceUrl } = await testDatabase()
  const env = { DATABASE_URL: serviceUrl }
  const err = 'audit could not run: --as-of: The ledger has no events.\n'
  t.same(await runAudit(env, 'trial-balance', '--as-of', utcDay()), { code: 2, out: '', err })
  t.match(await runAudit(env, 'trial-balance'), { out: /^trial-balance\nas of position 0, before the first event\n/ })
})
