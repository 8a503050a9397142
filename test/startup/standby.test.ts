import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { connect } from '../../src/db/connect.ts'
import { runAudit } from '../audit/run-audit.ts'
import { signInAt } from '../harness/app/console-session.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { queryRows } from '../harness/postgres/query-rows.ts'
import { type ReplicatedPostgres, type Server, startReplicated } from '../harness/postgres/replicated.ts'
import { testBinaries } from '../harness/postgres/test-binaries.ts'
import { base } from '../harness/postgres/test-cluster.ts'
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
  const writer = await startService(t, { ...keys, DATABASE_URL: primary.serviceUrl }, await reservePort())
  const reader = await startService(t, { ...keys, DATABASE_URL: standby.serviceUrl }, await reservePort())
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
  const writer = await startService(t, { ...env, DATABASE_URL: primary.serviceUrl }, await reservePort())
  const reader = await startService(t, { ...env, DATABASE_URL: standby.serviceUrl }, await reservePort())
  const write = sender(writer, writer, 'user 1')
  const read = sender(reader, writer, 'user 1')
  const linksAfter = async ({ serviceUrl }: Server, position: number): Promise<unknown[]> => {
    const rows = await queryRows(
      serviceUrl,
      `select data::jsonb->>'link' as link from ledger_events where type = 'gift-drawn' and position > $1`,
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

test('a standby of DATABASE_READ_URL answers reads', { skip: onlyInFullRun }, async (t) => {
  const { primary, standby } = await replicated(t)
  const urls = { DATABASE_URL: primary.serviceUrl, DATABASE_READ_URL: standby.serviceUrl }
  const service = await startService(t, { ...urls, DATA_DIR: temporaryFolder(t) }, await reservePort())
  const one = sender(service, service, 'user 1')
  const two = sender(service, service, 'user 2')
  const operator = sender(service, service, 'operator')
  const finance = sender(service, service, 'finance')

  /** Where the standby's ledger ends. */
  const replayed = async (): Promise<number> => {
    const client = await connect(standby.serviceUrl, 'economy tests')
    try {
      return Number((await client.query<{ position: string }>('select position from ledger_head')).rows[0]?.position)
    } finally {
      await client.end()
    }
  }
  const report = async (name: string): Promise<unknown> => {
    const { status, text } = await finance('GET', `/admin/v1/ledger/${name}`)
    return status === 200 ? JSON.parse(text).data.position : status
  }

  /**
   * Pauses the standby's replay for a gift of user 1, then reads. It is read while it is at most 10 s behind, which a busy
   * machine may exceed: then once more, until `reads` returns something.
   */
  const whilePaused = async <Seen>(
    reads: (sent: Reply, before: string) => Promise<Seen | undefined>,
  ): Promise<Seen> => {
    let seen: Seen | undefined
    await until(async () => {
      await standby.admin('select pg_wal_replay_resume()')
      const here = (await one('GET', '/v1/rooms/1')).position
      await until(async () => (await replayed()) >= here)
      const before = (await two('GET', '/v1/wallet')).text
      await standby.admin('select pg_wal_replay_pause()')
      seen = await reads(await one('POST', '/v1/instant-send', gift), before)
      return seen !== undefined
    })
    if (seen === undefined) throw new Error('nothing was seen')
    return seen
  }
  const wallet = (send: Send, position?: number): Promise<Reply> =>
    send('GET', '/v1/wallet', undefined, position === undefined ? {} : { 'x-ledger-position': String(position) })

  const seen = await whilePaused(async (sent, before) => {
    const stale = await wallet(two)
    const beyond = await wallet(two, 999_999_999_999)
    if (stale.text !== before || beyond.text !== before) return undefined
    const reports = [
      await report('checkpoint'),
      await report('trial-balance'),
      await report('explain?user=1&currency=diamonds'),
      await report(`trial-balance?as_of=${sent.position}`),
    ]
    return { sent, before, stale, reports, fresh: await wallet(two, sent.position), own: await wallet(one) }
  })
  const { sent, before, stale, reports, fresh, own } = seen
  t.ok(stale.position < sent.position, 'the standby answers with its own position')
  t.not(fresh.text, before, 'the primary answers when the standby does not reach the position in time')
  t.ok(fresh.position >= sent.position)
  t.ok(own.position >= sent.position, 'whoever has just written reads the primary')
  t.same(
    reports,
    reports.map(() => sent.position),
    'reports have every event that was committed before',
  )
  const audit = await runAudit(urls, 'verify')
  t.match(audit, { code: 0, out: `up to position ${sent.position} ` }, 'so does the audit')
  t.match(audit.err, /^reading DATABASE_URL instead of DATABASE_READ_URL: it is at position \d+, behind \d+\n$/)

  t.equal((await operator('PUT', '/admin/v1/rooms/77', { owner_id: 3 })).status, 200)
  const joined = await whilePaused(async (_sent, text) => {
    if ((await wallet(two)).text !== text) return undefined
    return { text, status: (await two('GET', '/v1/rooms/77/join')).status, after: await wallet(two) }
  })
  t.equal(joined.status, 200)
  t.not(joined.after.text, joined.text, 'joining a room is a write')

  const country = '/admin/v1/countries/77'
  t.equal((await operator('PUT', country, { name: 'Chad' })).status, 200)
  t.equal((await operator('GET', country)).status, 200, 'staff who wrote read the primary, too')
  await standby.admin('select pg_wal_replay_resume()')
  await until(async () => (await finance('GET', country)).status === 200)
  t.match(await runAudit(urls, 'verify'), { code: 0, err: '' }, 'the audit reads the standby')
  const openPage = await signInAt(service.origin, tokenIn(service.output(), 'finance'))
  t.equal(await openPage('/console/accounts'), 200)
  await standby.stop()
  t.equal(await openPage('/console/accounts'), 200, 'a page whose reads fail on the standby is read from the primary')
  for (const send of [one, two, finance]) {
    const path = send === finance ? '/admin/v1/ledger/trial-balance' : '/v1/wallet'
    t.equal((await send('GET', path)).status, 200, 'without the standby the primary answers')
  }
  t.equal(await readyStatus(service), 200)
})
