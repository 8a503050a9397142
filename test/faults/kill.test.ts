import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { test } from 'tap'
import { freePort, type ServiceProcess, startService, tokenIn } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ROUNDS = 4
const CLIENTS = 8

interface Ledgered {
  /** Keys of requests that were answered 200. */
  readonly acknowledged: Set<string>
  /** Keys of requests of which nothing is known. */
  readonly unknown: Set<string>
}

/** Sends a rose of 10 diamonds under a key; a retry of it is the same request. */
const rose = (origin: string, token: string, key: string) =>
  fetch(`${origin}/api/v1/instant-send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: '{"u_id":1,"decoration_id":1,"user_id":[2],"quantity":1,"room_id":1}',
    signal: AbortSignal.timeout(10_000),
  })

/** Clients that send as fast as they can until told to stop, noting what they were told. */
function load(origin: string, token: string, round: number, ledger: Ledgered) {
  let stopped = false
  const statuses = new Map<number, number>()
  const client = async (number: number) => {
    for (let i = 0; !stopped; i += 1) {
      const key = `${round}-${number}-${i}`
      ledger.unknown.add(key)
      try {
        const { status } = await rose(origin, token, key)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status !== 200) continue
        ledger.unknown.delete(key)
        ledger.acknowledged.add(key)
      } catch {
        // Cut off: whether it happened is found out by asking again.
        await pause(20)
      }
    }
  }
  const running = Array.from({ length: CLIENTS }, (_, i) => client(i))
  return {
    statuses,
    stop: async () => {
      stopped = true
      await Promise.all(running)
    },
  }
}

/** Asks again for everything that was left open: with its key each can happen only once. */
async function settle(origin: string, token: string, { unknown, acknowledged }: Ledgered): Promise<number> {
  let replayed = 0
  for (const key of unknown) {
    const response = await rose(origin, token, key)
    if (response.status !== 200) throw new Error(`${key} was answered ${response.status} ${await response.text()}`)
    if (response.headers.get('idempotency-replayed') === 'true') replayed += 1
    acknowledged.add(key)
  }
  unknown.clear()
  return replayed
}

async function books(dataDir: string): Promise<{ sends: number; diamonds: number; keys: number }> {
  const client = new Client({ connectionString: readFileSync(join(dataDir, 'database-url'), 'utf8').trim() })
  await client.connect()
  try {
    const { rows } = await client.query<{ sends: string; keys: string; diamonds: string }>(
      `select count(*) as sends, count(distinct idempotency_key) as keys,
              (select balance from balances where account = 'user:1:diamonds') as diamonds
       from ledger_events where type = 'gift-sent'`,
    )
    const row = rows[0]
    return { sends: Number(row?.sends), keys: Number(row?.keys), diamonds: Number(row?.diamonds) }
  } finally {
    await client.end()
  }
}

function postmaster(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
}

async function answers(service: ServiceProcess): Promise<void> {
  for (let i = 0; i < 100; i += 1) {
    const ready = await fetch(`${service.origin}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    )
    if (ready) return
    await pause(100)
  }
  throw new Error(`not ready again: ${service.output()}`)
}

test('kill -9 of the service and of PostgreSQL under load', { timeout: 120_000 }, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'economy-kill-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const port = await freePort()
  const ledger: Ledgered = { acknowledged: new Set(), unknown: new Set() }
  let service = await startService(t, { DATA_DIR: dataDir }, port)
  const token = tokenIn(service.output(), 'user 1')
  const operator = tokenIn(service.output(), 'operator')
  await fetch(`${service.origin}/admin/v1/users/1/credits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
    body: '{"currency":"diamonds","amount":1000000,"reason":"test"}',
  })
  const before = (await books(dataDir)).diamonds

  for (let round = 0; round < ROUNDS; round += 1) {
    const clients = load(service.origin, token, round, ledger)
    await pause(400 + 100 * round)
    if (round % 2 === 0) {
      service.kill('SIGKILL')
      await service.exited
      await clients.stop()
      service = await startService(t, { DATA_DIR: dataDir }, port)
    } else {
      process.kill(postmaster(dataDir), 'SIGKILL')
      await pause(300)
      await clients.stop()
    }
    await answers(service)
    t.ok(
      [...clients.statuses.keys()].every((status) => status === 200 || status === 500),
      `statuses of round ${round}`,
    )
    t.ok((clients.statuses.get(200) ?? 0) > 0, 'there was load')
    await settle(service.origin, token, ledger)
    const { sends, keys, diamonds } = await books(dataDir)
    t.equal(sends, ledger.acknowledged.size, 'nothing acknowledged is lost, nothing is done twice')
    t.equal(keys, sends)
    t.equal(diamonds, before - 10 * sends)
  }

  service.kill('SIGTERM')
  t.equal(await service.exited, 0)
  const verdict = execFileSync(process.execPath, ['scripts/audit.ts', 'verify'], {
    cwd: root,
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir },
    encoding: 'utf8',
  })
  t.match(verdict, /clean/)
})
