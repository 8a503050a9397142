import { chmodSync, chownSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { main as approvals } from '../../scripts/approvals.ts'
import { main as forget } from '../../scripts/forget.ts'
import { main as roulettePurge } from '../../scripts/roulette-purge.ts'
import { main as salary } from '../../scripts/salary.ts'
import { compareAtStart, withLedger } from '../../src/audit/with-ledger.ts'
import { readLostCommitsConfig } from '../../src/config/environment.ts'
import { lastSeenFile, readLastSeen, writeLastSeen } from '../../src/db/last-seen.ts'
import { credit } from '../../src/features/wallet/balance-move.ts'
import { command } from '../../src/ledger/executor/command.ts'
import { LedgerWentBack } from '../../src/ledger/executor/failures.ts'
import { callCommandLine } from '../features/call-command-line.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { proxy } from '../harness/postgres/proxy.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { testSchema } from '../harness/postgres/test-schema.ts'
import { until } from '../harness/until.ts'
import { runAudit } from './run-audit.ts'
import { seededLedger } from './seed-ledger.ts'

const headOf = async (database: TestDatabase): Promise<number> =>
  Number((await queryRows(database, 'select position from ledger_head'))[0]?.['position'])

/** A host of instances, whose DATA_DIR has the end of the ledger. */
async function hostOf(t: Test, database: TestDatabase) {
  const env = { DATABASE_URL: database.serviceUrl, DATA_DIR: temporaryFolder(t), LEDGER_SCHEMA: testSchema }
  const config = readLostCommitsConfig(env)
  const start = () => compareAtStart(database.serviceUrl, config, { warn: () => {} })
  const seen = await start()
  if (seen === null) throw new Error('the ledger is empty')
  const file = lastSeenFile(config.dataDir, config.ledgerSchema)
  await writeLastSeen(file, seen)
  return { env, file, seen, start }
}

test('no command line writes on a ledger that lost commits', async (t) => {
  const database = await seededLedger()
  const { env, file, seen, start } = await hostOf(t, database)
  const deposits = join(env.DATA_DIR, 'deposits.csv')
  writeFileSync(deposits, 'user_id,dollars,agent_dollars,target\n2,10.00,0,0\n')
  const lost = { ...seen, position: seen.position + 7, hash: 'a'.repeat(64) }
  await writeLastSeen(file, lost)
  const writing = {
    salary: () => callCommandLine(salary, env.DATABASE_URL, ['--period', '2026-10', '--file', deposits], env),
    forget: () => callCommandLine(forget, env.DATABASE_URL, ['--user', '3'], env),
    'roulette:purge': () => callCommandLine(roulettePurge, env.DATABASE_URL, ['--older-than', '0'], env),
    approvals: () => callCommandLine(approvals, env.DATABASE_URL, ['set', 'off'], env),
    audit: () => runAudit(env, 'close-month', '2026-10'),
  }
  const rowsOf = () => queryRows(database, 'select * from closing_steps')
  const before = await rowsOf()
  for (const [name, run] of Object.entries(writing)) {
    const { code, out, err } = await run()
    const sentence = await start().then(
      () => 'it starts',
      (error: Error) => error.message,
    )
    t.match(sentence, `The ledger went back from position ${lost.position} to ${seen.position}: `)
    t.match({ code, out }, { code: name === 'audit' ? 2 : 1, out: '' }, name)
    t.equal(err, `${name} ${name === 'audit' ? 'could not run' : 'stopped'}: ${sentence}\n`)
  }
  t.equal(await headOf(database), seen.position)
  t.same(await rowsOf(), before)
  t.same(await readLastSeen(file), lost)
  const wrong = await callCommandLine(approvals, env.DATABASE_URL, ['set', 'off'], { ...env, ON_LOST_COMMITS: 'go on' })
  t.match(wrong, { code: 1, err: 'approvals stopped: ON_LOST_COMMITS must be stop or recover.\n' })

  const recovered = await callCommandLine(forget, env.DATABASE_URL, ['--user', '3'], {
    ...env,
    ON_LOST_COMMITS: 'recover',
  })
  t.match(recovered, {
    code: 0,
    out: /^user 3 is forgotten/,
    err: /^The ledger went back .*; a new incarnation has begun\n$/,
  })
  const events = await queryRows(
    database,
    `select type from ledger where position > ${seen.position} order by position`,
  )
  t.equal(events[0]?.['type'], 'ledger-restored')
  t.match(await readLastSeen(file), { position: await headOf(database) }, 'what was committed here is known to a start')
})

test('commits that are lost while a command line writes end it', async (t) => {
  const database = await seededLedger()
  const { env, file } = await hostOf(t, database)
  const pay = (requestId: string) =>
    command(
      credit,
      { user_id: 1, currency: 'coins', amount: 1, reason: 'test' },
      { actor: 'staff:ann', requestId, idempotency: null },
      {
        presentResult: () => ({ status: 200, body: '' }),
        presentRefusal: ({ refusal }) => ({ status: 422, body: refusal }),
      },
    )
  const errors: unknown[] = []
  const route = await proxy(t, database.serviceUrl)
  const writer = { url: route.url, env, remark: (text: string) => t.fail(text) }
  await withLedger(writer, async (executor) => {
    await executor.run(pay('one'))
    await queryRows(database, 'update ledger_home set timeline = timeline + 5')
    await route.down()
    await route.up()
    await until(async () => {
      await executor.run(pay('two')).catch((error: unknown) => errors.push(error))
      return errors.at(-1) instanceof LedgerWentBack
    })
  })
  t.match(errors.at(-1), { message: /may have gone back .* run npm run after-restore/ })
  const [paid] = await queryRows(database, `select position from ledger where request_id = 'one'`)
  t.equal(await headOf(database), Number(paid?.['position']))
  t.match(await readLastSeen(file), { position: Number(paid?.['position']) }, 'what was committed before is kept')
})

test('a command line keeps what it has seen only where instances do, and for who owns the folder', async (t) => {
  const database = await seededLedger()
  const { env, file } = await hostOf(t, database)
  const folder = temporaryFolder(t)
  const elsewhere = { ...env, DATA_DIR: folder }
  t.match(await callCommandLine(approvals, env.DATABASE_URL, ['set', 'off'], elsewhere), { code: 0, err: '' })
  t.notOk(existsSync(lastSeenFile(folder, testSchema)))
  if (process.getuid?.() !== 0) return
  chownSync(env.DATA_DIR, 12_345, 12_346)
  chmodSync(env.DATA_DIR, 0o700)
  t.match(await callCommandLine(forget, env.DATABASE_URL, ['--user', '3'], env), { code: 0 })
  t.match(await readLastSeen(file), { position: await headOf(database) })
  t.match(statSync(file), { uid: 12_345, gid: 12_346 })
})

test('no command line writes the first event of a ledger', async (t) => {
  const database = await testDatabase()
  const deposits = join(temporaryFolder(t), 'deposits.csv')
  writeFileSync(deposits, 'user_id,dollars,agent_dollars,target\n2,10.00,0,0\n')
  for (const [main, args] of [
    [salary, ['--period', '2026-10', '--file', deposits]],
    [forget, ['--user', '3']],
    [roulettePurge, ['--older-than', '0']],
    [approvals, ['set', 'off']],
  ] as const) {
    const { code, err } = await callCommandLine(main, database.serviceUrl, args)
    t.match({ code, err }, { code: 1, err: / stopped: The ledger has no event: start the service once/ })
  }
  const audit = await runAudit({ DATABASE_URL: database.serviceUrl, DATA_DIR: '/dev/null' }, 'close-month', '2026-10')
  t.match(audit, { code: 2, err: /The ledger has no event: start the service once/ })
  t.equal(await headOf(database), 0)
})
