import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import type { EventData, EventType } from '../../schema/events.ts'
import { runAfterRestore } from '../../scripts/after-restore.ts'
import { whatToDo } from '../../src/audit/after-restore.ts'
import { checkpointSigner } from '../../src/audit/checkpoint.ts'
import { signManifest } from '../../src/audit/closings/files.ts'
import { formatJsonLine } from '../../src/audit/reports/export-formats.ts'
import { connect } from '../../src/db/connect.ts'
import { readLastSeen, writeLastSeen } from '../../src/db/last-seen.ts'
import { requestWithdrawal } from '../../src/features/agency/withdrawals/request-withdrawal.ts'
import { type AcknowledgeFinding, acknowledgeFinding, findingId } from '../../src/features/closings/finding.ts'
import { defineCountry } from '../../src/features/users/country.ts'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { WriterLock } from '../../src/forwarding/writer-lock.ts'
import { isoMicros } from '../../src/ledger/rules/time.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { testIncarnation } from '../harness/ledger/given-when.ts'
import { createTestExecutor, queryRows } from '../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { testSchema } from '../harness/postgres/test-schema.ts'
import { keys } from '../harness/scenario/service-keys.ts'
import { runHere } from './run-audit.ts'
import { seededLedger } from './seed-ledger.ts'
import { changed, rechain, tamper, verifyDatabase } from './verify-database.ts'

const signer = checkpointSigner(keys.CHECKPOINT_KEY)
const cash = { type: 'cash', beneficiary_id: null, country_id: 1, agent_benefit: false, details: null } as const
const LOST = 'f'.repeat(64)

/** A ledger whose last event is the request of user 2 for 5.00 dollars. */
const restoredLedger = (): Promise<TestDatabase> =>
  seededLedger(async (t, database) => {
    const { runOk } = createTestExecutor(t, database.serviceUrl)
    await runOk(defineCountry, { id: 1, name: 'Egypt' })
    await runOk(defineUsers, { listed: true, users: [{ id: 3, business_manager: true }] })
    await runOk(requestWithdrawal(null), { ...cash, caller_id: 2, target_id: 3, amount: 500 })
  })

async function endOf(database: TestDatabase) {
  const [end] = await queryRows(
    database,
    `select h.position, h.hash, e.hash as first from ledger_head h left join ledger e on e.position = 1`,
  )
  const [{ database: name } = {}] = await queryRows(
    database,
    `select system_identifier || '/' || oid as database from pg_control_system(), pg_database
     where datname = current_database()`,
  )
  const text = (value: unknown): string => String(value)
  return {
    position: Number(end?.['position']),
    hash: text(end?.['hash']),
    ledger: text(end?.['first']),
    database: text(name),
  }
}

/** A DATA_DIR of an instance that saw three further events. */
async function dataDirOf(t: Test, database: TestDatabase) {
  const folder = temporaryFolder(t)
  const { position, ledger, database: name } = await endOf(database)
  const seen = { ledger, database: name, incarnation: testIncarnation, began_at: 0, position: position + 3, hash: LOST }
  await writeLastSeen(join(folder, fileName('last-seen')), seen)
  return { folder, end: position }
}

const fileName = (name: string): string => (testSchema === 'public' ? name : `${name}-${testSchema}`)

/** The export of a month with an event that is still there and lost ones after it. */
function exportMonth(folder: string, end: number, lost: readonly (readonly [EventType, EventData, string])[]): void {
  const month = join(folder, fileName('closings'), '2026-10')
  mkdirSync(month, { recursive: true })
  const all = [['user-forgotten', { user_id: 1 }, 'staff:ann'] as const, ...lost]
  const lines = all.map(([type, data, actor], i) =>
    formatJsonLine({
      position: end + i,
      type,
      version: 1,
      data: JSON.stringify(data),
      movements: [],
      actor,
      at: 0,
      requestId: 'r',
      idempotencyKey: null,
      replyHash: null,
      hash: LOST,
    }),
  )
  writeFileSync(join(month, 'events.jsonl'), lines.join(''))
  const checkpoint = signer.sign({ position: end + lost.length, hash: LOST, at: isoMicros(0) })
  const times = { from_at: isoMicros(0), to_at: isoMicros(0), made_at: isoMicros(0) }
  const manifest = {
    month: '2026-10',
    from: end,
    to: end + lost.length,
    files: [],
    checkpoint,
    made_by: 'ann',
    ...times,
  }
  writeFileSync(join(month, 'manifest.json'), JSON.stringify(signManifest(manifest, signer)))
}

test('a ledger that went back begins an incarnation, and what is known to be lost is printed', async (t) => {
  const database = await restoredLedger()
  const { folder, end } = await dataDirOf(t, database)
  const withdrawal = { withdrawal_id: end, user_id: 2, target_id: 3, wallet: 'dollars', amount: 500 } as const
  const status = { ...withdrawal, from: 'pending', to: 'approved', by: 'staff', note: null } as const
  const request = {
    type: 'cash',
    user_id: 2,
    target_id: 3,
    beneficiary_id: null,
    country_id: 1,
    wallet: 'agent_dollars',
  }
  exportMonth(folder, end, [
    ['withdrawal-status-changed', status, 'staff:bob'],
    ['withdrawal-requested', Object({ ...request, amount: 1250, diamonds_per_dollar: null, details: null }), 'user:2'],
    ['user-forgotten', { user_id: 3 }, 'staff:ann'],
    ['sessions-revoked', { user_id: 3, before: 5 }, 'staff:ann'],
    ['staff-sessions-revoked', { sub: 'rita', before: 5 }, 'staff:ann'],
    ['room-defined', { room_id: 9, owner_id: 3 }, 'staff:ann'],
  ])
  const checkpoint = join(folder, 'checkpoint.json')
  const newest = { position: end + 9, hash: LOST, at: '2026-11-01T00:00:00.000000Z' }
  writeFileSync(checkpoint, JSON.stringify(signer.sign(newest)))
  const env = { ...keys, DATABASE_URL: database.serviceUrl, DATA_DIR: folder }
  const { code, out, err } = await runHere(runAfterRestore, env, ['--checkpoint', checkpoint])
  t.same([code, err], [0, ''])
  const lines = out.split('\n')
  t.match(lines[0], /^clean: \d+ events up to position /)
  t.match(
    lines[1],
    new RegExp(
      `^the ledger ends at position ${end}, of 20.+; positions up to ${end + 9} at least are lost, by the checkpoint of 2026-11-01`,
    ),
  )
  for (const line of [
    `  request ${end} of user 2: approved by staff:bob at 1970-01-01T00:00:00.000000Z`,
    `  request ${end + 2} of user 2 to 3, 12.50 agent_dollars, made at 1970-01-01T00:00:00.000000Z`,
    `  request ${end} of user 2, 5.00 dollars, is pending`,
    '  npm run forget -- --user 3',
    '  POST /admin/v1/users/3/revoke-sessions',
    '  POST /admin/v1/staff/rita/revoke-sessions',
  ]) {
    t.ok(lines.includes(line), line)
  }
  t.notMatch(out, '--user 1')

  const [event] = await queryRows(
    database,
    'select type, data::text, position, actor from ledger order by position desc limit 1',
  )
  t.match(event, { type: 'ledger-restored', position: String(end + 1), actor: /^staff:/ })
  const data = JSON.parse(event?.['data'] ?? '')
  t.match(data, { incarnation: /^[0-9a-f]{32}$/, last_known: { position: end + 9, hash: LOST } })
  t.match(data.reason, `it ends at position ${end}, and position ${end + 3} was seen`)
  t.match(await readLastSeen(join(folder, fileName('last-seen'))), { incarnation: data.incarnation, position: end + 1 })
  t.same((await verifyDatabase(database)).findings, [])
  t.match((await verifyDatabase(database, null, { ...newest, at: isoMicros(0) })).findings, [
    { check: 'lost_by_restore' },
  ])

  const again = await runHere(runAfterRestore, { ...env, DATA_DIR: temporaryFolder(t) }, [])
  t.match(again, { code: 0, out: /how much is lost is not known here\n/ })
  t.match(again.out, 'erased after')
  t.equal((await endOf(database)).position, end + 2)
})

test('a ledger that is gone is replaced by no other', async (t) => {
  const seeded = await restoredLedger()
  const { folder, end } = await dataDirOf(t, seeded)
  const empty = await testDatabase()
  const env = { ...keys, DATABASE_URL: empty.serviceUrl, DATA_DIR: folder }
  const file = join(folder, fileName('last-seen'))
  const seen = await readLastSeen(file)
  if (seen === null) throw new Error('nothing was seen')
  await writeLastSeen(file, { ...seen, database: (await endOf(empty)).database })
  t.match(await runHere(runAfterRestore, env, []), {
    code: 1,
    out: `The ledger went back from position ${end + 3} to 0: its database is empty. Restore a backup and run npm run after-restore; if another ledger is meant, remove ${file}.\n`,
  })
  await writeLastSeen(file, seen)
  const elsewhere = { code: 0, out: /^The ledger has no event/ }
  t.match(await runHere(runAfterRestore, env, []), elsewhere, 'seen in another database, it is not this one’s')
})

test('nothing is recorded on a ledger that is not what it was, or while the service runs', async (t) => {
  const database = await restoredLedger()
  const { folder, end } = await dataDirOf(t, database)
  const run = (...args: readonly string[]) =>
    runHere(runAfterRestore, { ...keys, DATABASE_URL: database.serviceUrl, DATA_DIR: folder }, args)
  await tamper(database, `update balances set balance = balance + 1 where account = 'user:1:diamonds'`)
  t.match(await run(), { code: 1, out: /projection: balances user:1:diamonds.*\n.+\nnothing was recorded/ })
  await tamper(database, `update balances set balance = balance - 1 where account = 'user:1:diamonds'`)

  const forged = join(folder, 'forged.json')
  writeFileSync(forged, JSON.stringify(signer.sign({ position: end, hash: LOST, at: isoMicros(0) })))
  t.match(await run('--checkpoint', forged), { code: 1, out: /checkpoint: history up to here was rewritten/ })
  t.match(await run('--checkpoint', join(folder, 'none')), {
    code: 1,
    err: /^after-restore stopped: --checkpoint: there is no file/,
  })
  t.match(await run('--nothing'), { code: 1, err: /unknown option/ })

  const writer = await WriterLock.connect(database.serviceUrl)
  await writer.tryAcquire()
  t.match(await run(), {
    code: 1,
    err: 'after-restore stopped: The service runs, or the database is a standby: stop or promote it first.\n',
  })
  await writer.close()
  t.equal((await endOf(database)).position, end)
})

/** Acknowledges that the event at a position is older than the one before. */
const lateEvent = (subject: string): AcknowledgeFinding => ({
  month: '2026-10',
  finding: findingId('verify', 'time', subject),
  reason: 'a clock',
  found: { step: 'verify', kind: 'time', subject, is_own: false },
})

test('a report that is full lets no ledger in, as it hides what else there is', async (t) => {
  const database = await restoredLedger()
  const { runOk } = createTestExecutor(t, database.serviceUrl)
  for (let i = 1; i <= 20; i += 1) await runOk(acknowledgeFinding, lateEvent(String(i)), 'staff:bea')
  await tamper(
    database,
    `update shown_events set actor = 'staff:eve' where type = 'finding-acknowledged'`,
    `update balances set balance = balance + 1 where account = 'user:1:diamonds'`,
  )
  await rechain(database)
  const env = { ...keys, DATABASE_URL: database.serviceUrl, DATA_DIR: temporaryFolder(t) }
  const { code, out } = await runHere(runAfterRestore, env, [])
  t.equal(code, 1)
  t.match(out, /: approval: .*\nthe first 20 findings, .*\nnothing was recorded/)
  t.notMatch(out, 'projection')
})

test('findings that were acknowledged stop nobody, and what cannot be kept in DATA_DIR is remarked', async (t) => {
  const database = await restoredLedger()
  const [{ position } = {}] = await queryRows(
    database,
    `select max(position) as position from ledger where type = 'balance-debited'`,
  )
  await tamper(database, changed(Number(position), "at = at - interval '1 day'"))
  await rechain(database)
  const missing = join(temporaryFolder(t), 'missing')
  const run = () => runHere(runAfterRestore, { ...keys, DATABASE_URL: database.serviceUrl, DATA_DIR: missing }, [])
  t.match(await run(), {
    code: 1,
    out: new RegExp(`position ${position}: time: .*\nfindings: 1.*\nnothing was recorded`),
  })
  await createTestExecutor(t, database.serviceUrl).runOk(acknowledgeFinding, lateEvent(String(position)), 'staff:bea')
  const { code, out, err } = await run()
  t.equal(code, 0)
  t.match(out, /findings: 1.*[^]*recorded at position /)
  t.match(err, /missing.last-seen.* was not written: /)
})

test('a damaged file says nothing of what was seen, and is replaced', async (t) => {
  const database = await restoredLedger()
  const folder = temporaryFolder(t)
  const file = join(folder, fileName('last-seen'))
  writeFileSync(file, '')
  const env = { ...keys, DATABASE_URL: database.serviceUrl, DATA_DIR: folder }
  t.match(await runHere(runAfterRestore, env, []), { code: 0, out: /recorded at position / })
  t.match(await readLastSeen(file), await endOf(database).then(({ position, ledger }) => ({ position, ledger })))
})

test('open withdrawals are listed up to a bound', async (t) => {
  const database = await restoredLedger()
  await queryRows(
    database,
    `insert into withdrawals select copy.* from withdrawals one, generate_series(100001, 100116) i,
       jsonb_populate_record(one, jsonb_build_object('withdrawal_id', i)) copy`,
  )
  const client = await connect(database.serviceUrl, 'test')
  const lines = await whatToDo(client, 'now', [])
  await client.end()
  const open = lines.slice(lines.findIndex((line) => line.includes('are open')) + 1)
  t.match(open[99], /^ {2}request 100099 of user 2, 5.00 dollars, is pending$/)
  t.match(open[100], /^ {2}and 17 more: GET/)
})
