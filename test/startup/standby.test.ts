import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import { genesis } from '../../src/ledger/rules/incarnation.ts'
import { openStandby } from '../../src/startup/standby.ts'
import { runAudit } from '../audit/run-audit.ts'
import { signInAt } from '../harness/app/console-session.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { readDb } from '../harness/app/test-app.ts'
import { createTestExecutor, testOpening } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { queryOnce } from '../harness/postgres/query-once.ts'
import { type ReplicatedPostgres, type Server, startReplicated } from '../harness/postgres/replicated.ts'
import { testBinaries } from '../harness/postgres/test-binaries.ts'
import { base } from '../harness/postgres/test-cluster.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { type ServiceProcess, startService, tokenIn } from '../harness/process/service.ts'
import { until } from '../harness/until.ts'
import { WebSocketClient } from '../harness/websocket/websocket-client.ts'

type Send = (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Reply>

interface Reply {
  readonly status: number
  readonly text: string
  readonly position: number
}

async function replicated(t: Test): Promise<ReplicatedPostgres> {
  const folder = mkdtempSync(join(base, 'economy-replicated-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return startReplicated(t, folder, await testBinaries())
}

/** Sends requests to a service with the token of a name in its output, or of another instance's. */
const sender = ({ origin }: ServiceProcess, issuer: ServiceProcess, name: string): Send => {
  const token = tokenIn(issuer.output(), name)
  return async (method, path, body, headers = {}) => {
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, position: Number(response.headers.get('x-ledger-position')) }
  }
}

const gift = { u_id: 1, decoration_id: 3, user_id: [2], quantity: 1, room_id: 1 }
const readyStatus = async ({ origin }: ServiceProcess): Promise<number> => {
  const response = await fetch(`${origin}/readyz`)
  await response.body?.cancel()
  return response.status
}

test('on a standby an instance only reads, until it is promoted', { skip: onlyInFullRun }, async (t) => {
  const { primary, standby } = await replicated(t)
  // The primary stops only when the standby has everything.
  const keys = { DATA_DIR: temporaryFolder(t), ASSET_BASE_URL: 'http://assets.test', DATABASE_SYNCHRONOUS: 'on' }
  const writer = await startService(t, { ...keys, DATABASE_URL: primary.serviceUrl })
  const reader = await startService(t, { ...keys, DATABASE_URL: standby.serviceUrl })
  t.match(reader.output(), 'DATABASE_URL is a standby: this instance only reads until it is promoted')
  const write = sender(writer, writer, 'user 1')
  const read = sender(reader, writer, 'user 1')
  t.equal(await readyStatus(reader), 200)
  t.equal((await read('GET', '/v1/wallet')).status, 200)
  const operator = sender(writer, writer, 'operator')
  t.equal((await operator('PUT', '/admin/v1/rooms/77', { owner_id: 3 })).status, 200)
  await until(async () => (await read('GET', '/v1/rooms/77')).status === 200)
  for (const [method, path, body] of [
    ['POST', '/v1/instant-send', gift],
    ['GET', '/v1/rooms/77/join', undefined],
  ] as const) {
    const reply = await read(method, path, body)
    t.match([reply.status, JSON.parse(reply.text)], [500, { code: 'unavailable' }], path)
  }
  t.equal(await readyStatus(reader), 200, 'commands that a standby refuses do not make it unready')

  const client = new WebSocketClient(reader.origin, { token: tokenIn(writer.output(), 'user 1'), keepsFrames: true })
  t.teardown(() => client.close())
  await client.waitForFrame('ready')
  client.send({ t: 'sub', i: 1, ch: 'one-to-room:R1' })
  await client.waitForFrame('subbed')
  const sent = await write('POST', '/v1/instant-send', gift)
  t.equal(sent.status, 200)
  const at = { 'x-ledger-position': String(sent.position) }
  const seen = await read('GET', '/v1/wallet', undefined, at)
  t.ok(seen.position >= sent.position, 'a read waits for the position that it sends back')
  t.equal(seen.text, (await write('GET', '/v1/wallet')).text)
  const movements = async (send: Send): Promise<unknown> =>
    JSON.parse((await send('GET', '/v1/wallet/history?limit=200', undefined, at)).text).data
  const history = await movements(read)
  t.match(history, [{ id: new RegExp(`^${sent.position}-`), type: 'gift-drawn' }])
  t.same(history, await movements(write))
  await client.waitFor(({ frames }) => frames.find(({ position }) => position === String(sent.position)))

  await standby.admin('select pg_wal_replay_pause()')
  const later = await write('POST', '/v1/instant-send', gift)
  const old = await read('GET', '/v1/wallet', undefined, { 'x-ledger-position': String(later.position) })
  t.equal(old.text, seen.text, 'it answers what it has')
  t.ok(old.position < later.position, 'with its own position')
  await standby.admin('select pg_wal_replay_resume()')

  writer.kill('SIGTERM')
  await writer.exited
  await primary.stop()
  await standby.admin('select pg_promote()')
  let first = await read('POST', '/v1/instant-send', gift)
  await until(async () => {
    if (first.status !== 200) first = await read('POST', '/v1/instant-send', gift)
    return first.status === 200
  })
  t.ok(first.position > later.position)
  await client.waitFor(({ frames }) => frames.find(({ position }) => position === String(first.position)))
  t.equal(await readyStatus(reader), 200)
})

test('a standby that is promoted without the last commits draws no link again', { skip: onlyInFullRun }, async (t) => {
  const { primary, standby } = await replicated(t)
  const env = { DATA_DIR: temporaryFolder(t), ASSET_BASE_URL: 'http://assets.test', ON_LOST_COMMITS: 'recover' }
  const writer = await startService(t, { ...env, DATABASE_URL: primary.serviceUrl })
  const reader = await startService(t, { ...env, DATABASE_URL: standby.serviceUrl })
  const write = sender(writer, writer, 'user 1')
  const read = sender(reader, writer, 'user 1')
  const linksAfter = async ({ serviceUrl }: Server, position: number): Promise<unknown[]> => {
    const rows = await queryOnce(
      serviceUrl,
      `select data::jsonb->>'link' as link from ledger where type = 'gift-drawn' and position > $1`,
      [position],
    )
    return rows.map(({ link }) => link)
  }
  const { position } = await write('POST', '/v1/instant-send', gift)
  await until(async () => (await read('GET', '/v1/wallet')).position >= position)
  t.equal((await read('POST', '/v1/instant-send', gift)).status, 500, 'its writer has a connection, or had one')

  await standby.admin(`alter system set primary_conninfo = ''`)
  await standby.admin('select pg_reload_conf()')
  await until(async () => (await standby.admin('select from pg_stat_wal_receiver')).length === 0)
  for (let i = 0; i < 3; i += 1) t.equal((await write('POST', '/v1/instant-send', gift)).status, 200)
  const known = await linksAfter(primary, position)
  t.equal(known.length, 3)
  writer.kill('SIGKILL')
  await writer.exited
  await primary.stop()
  await standby.admin('select pg_promote()')
  await until(async () => (await read('POST', '/v1/instant-send', gift).catch(() => null))?.status === 200)
  const drawn = await linksAfter(standby, position)
  t.ok(drawn.length > 0)
  t.same(
    drawn.filter((link) => known.includes(link)),
    [],
  )
})

test('a standby of DATABASE_READ_URL answers reports and pages of staff', { skip: onlyInFullRun }, async (t) => {
  const { primary, standby } = await replicated(t)
  const urls = { DATABASE_URL: primary.serviceUrl, DATABASE_READ_URL: standby.serviceUrl }
  const service = await startService(t, urls)
  const one = sender(service, service, 'user 1')
  const two = sender(service, service, 'user 2')
  const operator = sender(service, service, 'operator')
  const finance = sender(service, service, 'finance')
  const openPage = await signInAt(service.origin, tokenIn(service.output(), 'finance'))
  /** Whether it has read a report from the standby. */
  const hasReadStandby = async (): Promise<boolean> =>
    (await standby.admin(`select from pg_stat_activity where application_name = 'economy standby reports'`)).length > 0
  const wallet = async (send: Send): Promise<string> => (await send('GET', '/v1/wallet')).text

  const before = await wallet(two)
  t.equal((await operator('GET', '/admin/v1/countries?limit=1')).status, 200)
  t.notOk(await hasReadStandby(), 'clients, and staff who look up single things, read the primary')

  await standby.admin('select pg_wal_replay_pause()')
  const sent = await one('POST', '/v1/instant-send', gift)
  t.equal(sent.status, 200)
  t.not(await wallet(two), before, 'a client reads what was just committed')
  for (const report of [
    'checkpoint',
    'trial-balance',
    'explain?user=1&currency=diamonds',
    `trial-balance?as_of=${sent.position}`,
  ]) {
    const { status, text } = await finance('GET', `/admin/v1/ledger/${report}`)
    t.match([status, JSON.parse(text)], [200, { data: { position: sent.position } }], report)
  }
  const late = await runAudit(urls, 'verify')
  t.match(late, { code: 0, out: `up to position ${sent.position} ` }, 'so does the audit')
  t.match(late.err, /^reading DATABASE_URL instead of DATABASE_READ_URL: it is at position \d+, behind \d+\n$/)
  t.equal((await operator('PUT', '/admin/v1/users/777', { name: 'Zenobia' })).status, 200)
  t.equal(await openPage('/console/users/777'), 200, 'staff see what they just did')
  t.notOk(await hasReadStandby(), 'while the standby is behind, the primary answers')

  await standby.admin('select pg_wal_replay_resume()')
  await until(async () => {
    t.equal((await finance('GET', '/admin/v1/ledger/trial-balance')).status, 200)
    return hasReadStandby()
  })
  t.match(await runAudit(urls, 'verify'), { code: 0, err: '' }, 'the audit reads the standby')
  await standby.stop()
  t.equal(await openPage('/console/accounts'), 200, 'without the standby the primary answers')
  t.equal((await finance('GET', '/admin/v1/ledger/trial-balance')).status, 200)
  t.equal(await readyStatus(service), 200)
})

test('a standby that lacks what no command wrote is not read', { skip: onlyInFullRun }, async (t) => {
  const { primary, standby } = await replicated(t)
  await createTestExecutor(t, primary.serviceUrl).runOk(genesis, testOpening)
  await using cleanUp = new AsyncDisposableStack()
  const reports = { db: readDb(t, primary), url: primary.serviceUrl }
  const choose = await openStandby(standby.serviceUrl, reports, pino({ level: 'silent' }), cleanUp)
  await until(async () => (await choose()).url === standby.serviceUrl)
  await standby.admin('select pg_wal_replay_pause()')
  await queryOnce(
    primary.serviceUrl,
    `insert into made_checkpoints (made_by, at, position, hash) values ('staff:ann', now(), 1, 'x')`,
  )
  t.equal((await choose()).url, primary.serviceUrl)
  await standby.admin('select pg_wal_replay_resume()')
  await until(async () => (await choose()).url === standby.serviceUrl)
})

test('what is no standby of the primary, or is away, is not read', async (t) => {
  const database = await testDatabase()
  await createTestExecutor(t, database.serviceUrl).runOk(genesis, testOpening)
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line).msg) })
  const primary = { db: readDb(t, database), url: database.serviceUrl }
  const away = `postgres://economy_service@127.0.0.1:${await reservePort()}/economy`
  for (const [url, warnings] of [
    [database.serviceUrl, [/^DATABASE_READ_URL cannot be read; reading from DATABASE_URL$/]],
    [away, [/^DATABASE_READ_URL cannot be read yet; /, /^DATABASE_READ_URL cannot be read; /]],
  ] as const) {
    await using cleanUp = new AsyncDisposableStack()
    const choose = await openStandby(url, primary, log, cleanUp)
    t.same([await choose(), await choose()], [primary, primary])
    t.match(lines.splice(0), warnings)
  }
})
