import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { test } from 'tap'
import { checkpointSigner } from '../../../src/audit/checkpoint.ts'
import { closingsFolder, hashFile, monthFolder } from '../../../src/audit/closings/files.ts'
import { Jobs } from '../../../src/audit/jobs/jobs.ts'
import { foldBalancesAndAccounts } from '../../../src/audit/seals/fold-balances.ts'
import { sealText } from '../../../src/audit/seals/open-seal.ts'
import { makeSeal } from '../../../src/audit/seals/seal.ts'
import { writeSnapshot } from '../../../src/audit/seals/snapshot-files.ts'
import { replayedTables } from '../../../src/audit/verify/draws/draw-checks.ts'
import { lastFullVerification, ONE_VERIFICATION } from '../../../src/audit/verify/verifications.ts'
import { silent } from '../../../src/db/log.ts'
import { nextMonth } from '../../../src/features/closings/closing.ts'
import { recordSeal } from '../../../src/features/closings/seal.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { ReplayState } from '../../../src/ledger/replay/replay.ts'
import { RowFile } from '../../../src/ledger/replay/row-file.ts'
import { temporaryFolder } from '../../harness/app/temporary-folder.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { createTestExecutor, queryRows, testChains, testPiiKey } from '../../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../../harness/postgres/test-database.ts'
import { testSchema } from '../../harness/postgres/test-schema.ts'
import { keys } from '../../harness/scenario/service-keys.ts'
import { oldLedger, oldMonth } from '../old-ledger.ts'
import { runAudit } from '../run-audit.ts'
import { verifyFully } from '../seal-ledger.ts'
import { seededLedger, withOwnExecutors } from '../seed-ledger.ts'
import { changed, keepRows, rechain, tamper, verifyDatabase } from '../verify-database.ts'

// A replay that begins at a seal finds what one from position 1 finds in the tables and in the events after the seal.

const never = new AbortController().signal
const signer = checkpointSigner(keys.CHECKPOINT_KEY)

const seal = ({ serviceUrl }: TestDatabase, sealsFolder: string) =>
  makeSeal(serviceUrl, { sealsFolder, signer, piiKey: testPiiKey, progress: () => {}, signal: never })

/** Seals a ledger, then adds a credit, a lucky gift and its rewards. */
async function sealAndContinue(database: TestDatabase, sealsFolder: string): Promise<void> {
  const { sealed } = await seal(database, sealsFolder)
  if (sealed === null) throw new Error('it was not sealed')
  await withOwnExecutors(async (t) => {
    const { runOk } = createTestExecutor(t, database.serviceUrl)
    await runOk(recordSeal, sealed)
    await runOk(credit, { user_id: 1, currency: 'diamonds', amount: 100, reason: 'more' })
    const gift = { caller_id: 1, sender_id: 1, decoration_id: 2, receiver_ids: [2, 3], quantity: 1, room: 9 }
    await runOk(sendGift({ chains: testChains, ownerPercent: 5 }), { ...gift, from_bag: false, encrypted: false })
  })
}

test('a seal that the service did not sign is a finding, and no replay begins at it', async (t) => {
  for (const forge of ['by another key', 'of other rows'] as const) {
    const folder = temporaryFolder(t)
    const database = await seededLedger()
    await queryRows(
      database,
      `insert into key_fingerprints values ('checkpoint public key', '${signer.publicKey}') on conflict do nothing`,
    )
    const forger = forge === 'by another key' ? checkpointSigner('f'.repeat(64)) : signer
    const { sealed } = await makeSeal(database.serviceUrl, {
      sealsFolder: folder,
      signer: forger,
      piiKey: testPiiKey,
      progress: () => {},
      signal: never,
    })
    if (sealed === null) throw new Error('it was not sealed')
    const tables = sealed.tables.map((table, i) => ({ ...table, rows: table.rows + (i === 0 ? 1 : 0) }))
    const data = forge === 'of other rows' ? { ...sealed, tables } : sealed
    await withOwnExecutors(async (executors) => {
      await createTestExecutor(executors, database.serviceUrl).runOk(recordSeal, data)
    })
    const verification = await verifyDatabase(database, null, null, folder)
    t.equal(verification.seal, undefined, forge)
    t.match(
      verification.findings,
      [{ check: 'seal', message: /^the seal at \d+ was not signed by the service$/ }],
      forge,
    )
  }
})

const kept = [
  'ledger_events',
  'ledger_head',
  'balances',
  'rooms',
  'bag_items',
  'gift_streaks',
  'lucky_progress',
] as const

test('from a seal, differences in rows of any age and in later events are found', async (t) => {
  const folder = temporaryFolder(t)
  const database = await seededLedger()
  await sealAndContinue(database, folder)
  const full = await verifyDatabase(database)
  t.match(full, { findings: [] })
  const fromSeal = () => verifyDatabase(database, null, null, folder)
  t.same(await fromSeal(), { position: full.position, events: full.position - 22, findings: [], seal: 22 })

  const restore = await keepRows(database, ...kept)
  await tamper(
    database,
    `update balances set balance = 1 where account in ('user:2:dollars', 'user:1:diamonds')`,
    'update rooms set owner_id = 2',
    'delete from bag_items where user_id = 1',
    'update lucky_progress set used = used - 1',
  )
  t.same((await fromSeal()).findings.map(({ table, id }) => `${table} ${id}`).sort(), [
    'bag_items 1:2',
    'balances user:1:diamonds',
    'balances user:2:dollars',
    'lucky_progress 1',
    'rooms 9',
  ])
  await restore()
  const cases: [finding: object, ...statements: string[]][] = [
    [{ check: 'hash', position: 23 }, changed(23, `data = replace(data, 'rooms', 'roomz')`)],
    [{ check: 'hash', position: 24 }, changed(24, 'amount[1] = 99')],
    [
      { check: 'draw', position: 25 },
      changed(25, `data = regexp_replace(data, '"link":"..', '"link":"00')`),
      'rechain',
    ],
    [{ check: 'head', position: 24 }, 'delete from ledger_events where position > 23'],
  ]
  for (const [finding, ...statements] of cases) {
    await tamper(database, ...statements.filter((statement) => statement !== 'rechain'))
    if (statements.includes('rechain')) await rechain(database)
    t.match((await fromSeal()).findings[0], finding, statements.join('; '))
    await restore()
  }
  await tamper(database, changed(11, 'amount[1] = 41'))
  t.same((await fromSeal()).findings, [], 'events before the seal are not read')
  t.match((await verifyDatabase(database)).findings, [{ check: 'hash', position: 11 }])
  await restore()
  await tamper(database, changed(22, `hash = repeat('a', 64)`))
  t.match(await fromSeal(), {
    seal: undefined,
    findings: [
      { check: 'hash', position: 22 },
      { check: 'hash', position: 23 },
      { check: 'seal', position: 23 },
    ],
  })
})

test('a replay begins at the newest seal that may be used and has its snapshot', async (t) => {
  const folder = temporaryFolder(t)
  const database = await seededLedger()
  await sealAndContinue(database, folder)
  await sealAndContinue(database, folder)
  const [older = '', newer = ''] = readdirSync(folder).sort()
  const { position } = await verifyDatabase(database)
  const [, second] = (await queryRows(database, 'select position from seals order by position')).map((row) =>
    Number(row['position']),
  )
  const from = async (asOf: number | null = null) => (await verifyDatabase(database, asOf, null, folder)).seal
  t.equal(await from(), second)
  t.equal(await from(second), 22, 'the event of the newer one comes later')
  t.equal(await from(22), undefined)
  const [row] = await queryRows(database, 'select hash from ledger_events where position = 24')
  const found = await verifyDatabase(database, null, { position: 24, hash: String(row?.['hash']), at: '' }, folder)
  t.match(found, { seal: 22, findings: [] }, 'history up to a checkpoint is read')

  appendFileSync(join(folder, newer, 'balances.sqlite.zst'), '\0')
  const changedOne = await verifyDatabase(database, null, null, folder)
  t.match(changedOne, { seal: 22, findings: [{ check: 'seal', message: /was changed: .*balances\.sqlite\.zst$/ }] })
  t.equal(changedOne.findings.length, 1)
  rmSync(join(folder, newer), { recursive: true })
  t.match(await verifyDatabase(database, null, null, folder), {
    seal: 22,
    findings: [],
    notices: [/has no file/],
  })
  rmSync(join(folder, older), { recursive: true })
  const { notices, ...whole } = await verifyDatabase(database, null, null, folder)
  t.equal(notices?.length, 2)
  t.same(whole, { position, events: position, findings: [] })
})

test('a snapshot that was changed in any way is a finding, and the one before is used', async (t) => {
  const folder = temporaryFolder(t)
  const database = await seededLedger()
  await sealAndContinue(database, folder)
  await sealAndContinue(database, folder)
  const [older = '', newer = ''] = readdirSync(folder).sort()
  const file = join(folder, newer, 'rooms.sqlite.zst')
  const whole = readFileSync(file)
  const other = join(temporaryFolder(t), 'other')
  new RowFile().saveChanges(other)
  const changes: [what: string, change: () => void][] = [
    ['empty', () => truncateSync(file)],
    ['cut', () => truncateSync(file, whole.length - 1)],
    ['of another seal', () => copyFileSync(join(folder, older, 'users.sqlite.zst'), file)],
    ['of another form', () => writeFileSync(file, zstdCompressSync(readFileSync(other)))],
    ['a folder', () => mkdirSync(file)],
  ]
  for (const [what, change] of changes) {
    if (what === 'a folder') rmSync(file)
    change()
    const found = await verifyDatabase(database, null, null, folder)
    t.match(found, { seal: 22, findings: [{ check: 'seal', message: /was changed: .*rooms\.sqlite\.zst$/ }] }, what)
    t.equal(found.notices, undefined, what)
    rmSync(file, { recursive: true })
    writeFileSync(file, whole)
  }
  rmSync(file)
  symlinkSync(file, file)
  const unreadable = await verifyDatabase(database, null, null, folder)
  t.match(unreadable, { seal: 22, findings: [], notices: [/cannot be read \(ELOOP\): .*rooms\.sqlite\.zst$/] })
  rmSync(join(folder, newer), { recursive: true })
  writeFileSync(join(folder, newer), '')
  t.match(await verifyDatabase(database, null, null, folder), { seal: 22, findings: [], notices: [/has no file/] })
})

test('nothing is left of a snapshot that was not finished', async (t) => {
  const folder = temporaryFolder(t)
  const abandoned = join(folder, `000000000007-${'a'.repeat(16)}.unfinished`)
  mkdirSync(abandoned)
  writeFileSync(join(abandoned, 'balances'), '')
  using rows = new ReplayState({ tables: replayedTables })
  const last = { position: 22, hash: 'b'.repeat(64), at: 0 }
  const failing = async (path: string): Promise<never> => {
    writeFileSync(path, '')
    throw new Error('disk full')
  }
  await t.rejects(
    writeSnapshot(folder, last, rows, failing, async () => {}),
    { message: 'disk full' },
  )
  t.same(readdirSync(folder), [])
})

test('nothing is left of a snapshot whose thread was ended', async (t) => {
  const folder = temporaryFolder(t)
  const database = await seededLedger()
  const stopped = new AbortController()
  // As it leaves one that it was writing.
  mkdirSync(join(folder, `000000000007-${'a'.repeat(16)}.unfinished`))
  const progress = (): void => stopped.abort(new Error('stopped'))
  const options = { sealsFolder: folder, signer, piiKey: testPiiKey, progress, signal: stopped.signal }
  await t.rejects(makeSeal(database.serviceUrl, options), { message: 'stopped' })
  t.same(readdirSync(folder), [])
})

/** Signs what the event of a seal says now, as only who has the key can do. */
async function signAgain(database: TestDatabase, seal_id: number): Promise<void> {
  const [row] = await queryRows(database, `select data from ledger where position = ${seal_id}`)
  const { position, tables, checkpoint } = JSON.parse(String(row?.['data']))
  const signature = signer.signText(sealText({ position, hash: checkpoint.hash, tables }))
  await tamper(
    database,
    changed(seal_id, `data = regexp_replace(data, '"signature":"[^"]*"}$', '"signature":"${signature}"}')`),
  )
  await rechain(database)
}

test('from position 1, every seal is compared with the ledger', async (t) => {
  const folder = temporaryFolder(t)
  const database = await seededLedger()
  await sealAndContinue(database, folder)
  await sealAndContinue(database, folder)
  const full = () => verifyFully(database, folder)
  t.same((await full()).findings, [])
  const [older = '', newer = ''] = readdirSync(folder).sort()
  rmSync(join(folder, older), { recursive: true })
  appendFileSync(join(folder, newer, 'rooms.sqlite.zst'), '\0')
  const { notices, findings } = await full()
  t.match(notices, [/^the snapshot of the seal at 22 has no file /])
  t.ok(findings.some(({ check, message }) => check === 'seal' && message.includes('was changed')))
  await tamper(database, changed(23, `data = regexp_replace(data, '("name":"rooms","rows":1,"digest":")..', '\\1ff')`))
  await signAgain(database, 23)
  t.match((await full()).findings[0], { check: 'seal', position: 23, message: /^1 rows of rooms were sealed at 22, / })
})

test('from position 1, rows in a snapshot are found that are not those of its seal', async (t) => {
  const folder = temporaryFolder(t)
  const database = await seededLedger()
  await sealAndContinue(database, folder)
  const [sealed = ''] = readdirSync(folder)
  const file = join(folder, sealed, 'rooms.sqlite.zst')
  const plain = join(temporaryFolder(t), 'rooms')
  const write = (id: string, line: string): Buffer => {
    using rows = new RowFile()
    rows.write([[id, line]])
    rows.saveChanges(plain)
    const bytes = zstdCompressSync(readFileSync(plain))
    rmSync(plain)
    return bytes
  }
  const forgeries: [what: string, bytes: Buffer][] = [
    ['another row', write('9', '9\t2\t0\t0\tf')],
    ['no database', zstdCompressSync(Buffer.from('rooms'))],
    ['not compressed', Buffer.from('rooms')],
  ]
  for (const [what, bytes] of forgeries) {
    writeFileSync(file, bytes)
    const sha256 = await hashFile(file)
    await tamper(
      database,
      changed(23, `data = regexp_replace(data, '("name":"rooms"[^}]*"sha256":")[0-9a-f]+', '\\1${sha256}')`),
    )
    await signAgain(database, 23)
    const { findings } = await verifyFully(database, folder)
    t.match(findings, [{ check: 'seal', position: 23, message: /rooms\.sqlite\.zst/ }], what)
    t.equal(findings.length, 1, what)
  }
})

test('balances of the past, and rebuilt tables, are the same from a seal', async (t) => {
  const SEAL_DIR = temporaryFolder(t)
  const database = await seededLedger()
  await sealAndContinue(database, SEAL_DIR)
  const { serviceUrl, ownerUrl } = database
  const env = { DATABASE_URL: serviceUrl, DATABASE_OWNER_URL: ownerUrl }
  const questions = [
    ['trial-balance', '--as-of', '24'],
    ['trial-balance', '--by', 'account', '--from', '24'],
    ['export', '--format', 'hledger', '--from', '24'],
  ]
  for (const words of questions) {
    const answers = [
      await runAudit({ ...env, SEAL_DIR: temporaryFolder(t) }, ...words),
      await runAudit({ ...env, SEAL_DIR }, ...words),
    ]
    t.equal(answers[1]?.out, answers[0]?.out, words.join(' '))
    t.match(answers, [{ code: 0 }, { code: 0 }])
  }
  await tamper(database, changed(11, 'amount[1] = 41'), 'update rooms set trophy_points = 0', 'delete from bag_items')
  t.match(await runAudit({ ...env, SEAL_DIR }, 'rebuild', '--full'), {
    code: 2,
    err: /The ledger is not sound\. position 11: hash/,
  })
  t.match(await runAudit({ ...env, SEAL_DIR }, 'rebuild'), {
    code: 0,
    out: /^from seal at 22; the index of the ledger stays as it is\nrebuilt: /,
  })
  t.same((await verifyDatabase(database, null, null, SEAL_DIR)).findings, [])
  const [folder = ''] = readdirSync(SEAL_DIR)
  appendFileSync(join(SEAL_DIR, folder, 'balances.sqlite.zst'), '\0')
  t.match(await runAudit({ ...env, SEAL_DIR }, 'rebuild'), { code: 2, err: /position 11: hash/ })
})

test('every account is counted once, however few are kept in memory', async (t) => {
  const folder = temporaryFolder(t)
  const database = await seededLedger()
  await sealAndContinue(database, folder)
  const db = readDb(t, database)
  const context = { signal: never, onPlanned: () => {}, onScanned: () => {} }
  const stored = await queryRows(database, 'select account, balance::text from balances order by account')
  for (const seals of [{}, { sealsFolder: folder }]) {
    for (const maxAccounts of [1, 2, 1_000]) {
      const accounts: string[] = []
      const sums = new Map<string, bigint>()
      const callbacks = {
        onAccount: (account: string) => void accounts.push(account),
        onChange: (account: string, amount: number | bigint) =>
          void sums.set(account, (sums.get(account) ?? 0n) + BigInt(amount)),
      }
      await foldBalancesAndAccounts(db, 25, { ...context, ...seals }, callbacks, maxAccounts)
      t.same(
        accounts.sort().map((account) => ({ account, balance: String(sums.get(account)) })),
        stored,
      )
    }
  }
})

test('a report says why it does not begin at a newer seal', async (t) => {
  const SEAL_DIR = temporaryFolder(t)
  const database = await seededLedger()
  await sealAndContinue(database, SEAL_DIR)
  await sealAndContinue(database, SEAL_DIR)
  const env = { DATABASE_URL: database.serviceUrl, SEAL_DIR }
  const report = () => runAudit(env, 'trial-balance', '--as-of', '28')
  const sound = await report()
  const [, newer = ''] = readdirSync(SEAL_DIR).sort()
  appendFileSync(join(SEAL_DIR, newer, 'balances.sqlite.zst'), '\0')
  t.match(await report(), { code: 1, out: sound.out, err: /^position 26: seal: the snapshot .* was changed: / })
  t.match(await runAudit(env, 'draws', '--json'), { code: 1, out: /"seal":22/, err: /was changed: / })
  rmSync(join(SEAL_DIR, newer), { recursive: true })
  t.match(await report(), { code: 0, out: sound.out, err: /^notice: the snapshot of the seal at 25 has no file / })
})

test('draws are counted from the newest seal on', async (t) => {
  const SEAL_DIR = temporaryFolder(t)
  const database = await seededLedger()
  await sealAndContinue(database, SEAL_DIR)
  const env = { DATABASE_URL: database.serviceUrl, SEAL_DIR }
  const draws = async (...flags: readonly string[]) =>
    JSON.parse((await runAudit(env, 'draws', '--json', ...flags)).out)
  t.match(await draws(), { seal: 22, events: 3, faults: [], lucky: [{ draws: 2 }], unannounced: 0 })
  t.match(await draws('--full'), { seal: null, events: 25, faults: [], lucky: [{ draws: 7 }], unannounced: 2 })
  await tamper(database, changed(25, `data = regexp_replace(data, '"link":"..', '"link":"00')`))
  t.match(await draws(), { faults: [{ position: 25, message: /^the hash of the link is not / }, {}] })
})

test('closing a month seals its end, at which the next closing begins', async (t) => {
  const [SEAL_DIR, DATA_DIR] = [temporaryFolder(t), temporaryFolder(t)]
  const database = await oldLedger()
  const env = { DATABASE_URL: database.serviceUrl, CHECKPOINT_KEY: keys.CHECKPOINT_KEY, SEAL_DIR, DATA_DIR }
  t.match(await runAudit(env, 'close-month', oldMonth), { code: 0 })
  const positions = await queryRows(
    database,
    'select s.position, s.seal_id, c.last_position, c.closing_id from seals s, month_closings c',
  )
  t.same(positions, [{ position: 22, seal_id: 24, last_position: 22, closing_id: 23 }])
  const closed = await runAudit(env, 'close-month', nextMonth(oldMonth))
  t.match(closed, { code: 0 })
  const stepFile = (name: string) =>
    JSON.parse(readFileSync(join(monthFolder(closingsFolder(DATA_DIR, testSchema), nextMonth(oldMonth)), name), 'utf8'))
  t.match(stepFile('verification.json'), { seal: 22, findings: [] })
  t.match(stepFile('draws.json'), { seal: 22, faults: [] })
  t.match(await verifyDatabase(database, null, null, SEAL_DIR), { seal: 22, findings: [] })
  t.same(readdirSync(SEAL_DIR).length, 1)
})

test('nothing is sealed while a table differs from the ledger', async (t) => {
  const folder = temporaryFolder(t)
  const database = await seededLedger()
  await tamper(database, `update balances set balance = balance + 1 where account = 'user:1:diamonds'`)
  const { sealed, verification } = await seal(database, folder)
  t.equal(sealed, null)
  t.equal(verification.findings.length, 1)
  t.same(readdirSync(folder), [])
})

test('the same rows have the same digests, whatever order they come in and wherever the replay began', async (t) => {
  const database = await seededLedger()
  const folder = temporaryFolder(t)
  await sealAndContinue(database, folder)
  const digests = async (from: string) => {
    const { sealed } = await seal(database, from)
    return sealed?.tables.map(({ name, rows, digest }) => `${name} ${rows} ${digest}`)
  }
  t.same(await digests(folder), await digests(temporaryFolder(t)))
})

test('the command line seals, and says where a verification began', async (t) => {
  const SEAL_DIR = temporaryFolder(t)
  const { serviceUrl, ...database } = await seededLedger()
  const env = { DATABASE_URL: serviceUrl, CHECKPOINT_KEY: keys.CHECKPOINT_KEY, SEAL_DIR, DATA_DIR: temporaryFolder(t) }
  const sealed = await runAudit(env, 'seal')
  t.match(sealed, {
    code: 0,
    out: /^clean: 22 events up to position 22 in [\d.]+ s\nSealed at position 22\.\n$/,
    err: '',
  })
  await using jobs = new Jobs(serviceUrl, silent)
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const other = {
    kind: 'seal',
    subject: '',
    exclusive: ONE_VERIFICATION,
    startedBy: 'staff:ann',
    of: 0,
  } as const
  const running = await jobs.start(other, async () => ({ result: await ended, summary: '' }))
  t.match(await runAudit(env, 'seal'), { code: 2, err: /A verification is running, or another seal is being made/ })
  end()
  await running?.ended
  const [folder = ''] = readdirSync(SEAL_DIR)
  t.match(folder, /^000000000022-[0-9a-f]{16}$/)
  t.match(await runAudit(env, 'verify'), {
    code: 0,
    out: /^from seal at 22; events before it not read\nclean: 1 events up to position 23 in [\d.]+ s\n$/,
  })
  t.equal(await lastFullVerification(jobs), null)
  t.match(await runAudit(env, 'verify', '--full'), { out: /^clean: 23 events up to position 23 in [\d.]+ s\n$/ })
  t.type(await lastFullVerification(jobs), 'string')
  t.match(await runAudit(env, 'verify', '--full', '--as-of', '22'), { code: 0 })
  t.equal((await jobs.list({ limit: 9 })).filter(({ job }) => job.kind === 'streamed-verification').length, 1)
  await tamper({ serviceUrl, ...database }, 'update rooms set trophy_points = 0')
  t.match(await runAudit(env, 'seal'), {
    code: 1,
    out: /^projection: rooms 9: .*\nfrom seal at 22; .*\nfindings: 1, .*\nNothing was sealed\.\n$/,
  })
})
