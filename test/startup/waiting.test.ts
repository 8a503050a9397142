import { createServer } from 'node:net'
import { test } from 'tap'
import { isConnectionError } from '../../src/db/postgres-errors.ts'
import { connectTo } from '../../src/startup/database.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { proxy } from '../harness/postgres/proxy.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { listenOn } from '../harness/process/listen-on.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { launchService } from '../harness/process/service.ts'
import { DEADLINE_MS, until } from '../harness/until.ts'

const NOWHERE = 'postgres://nobody@127.0.0.1:1/nowhere'
const WAITING = 'DATABASE_URL cannot be reached; the start waits for it, 60 s at most'

/** As PostgreSQL answers while it starts. */
const FIELDS = 'SFATAL\0C57P03\0Mthe database system is starting up\0\0'
const STARTING = Buffer.from(`E\0\0\0${String.fromCharCode(FIELDS.length + 4)}${FIELDS}`)

test('a start waits for a database that is away, says so once, and ends at once when it is stopped', async (t) => {
  let attempts = 0
  const server = createServer((socket) => {
    attempts += 1
    socket.on('error', () => {})
    socket.once('data', () => socket.end(STARTING))
  })
  t.teardown(() => void server.close())
  const url = `postgres://u@127.0.0.1:${await listenOn(server)}/d`
  const messages: string[] = []
  const log = { warn: (_details: object, message: string) => messages.push(message) }
  const stop = new AbortController()
  const connecting = connectTo('DATABASE_URL', url, log, stop.signal)
  await until(() => attempts === 3)
  t.same(messages, [WAITING])
  stop.abort(new Error('ended by SIGTERM'))
  await t.rejects(connecting)
})

test('the wait ends with one sentence that names the variable and the reason', async (t) => {
  const log = { warn: () => {} }
  const { signal } = new AbortController()
  for (const [url, reason] of [
    [NOWHERE, 'ECONNREFUSED'],
    ['postgres://nobody@nowhere.invalid/nowhere', 'ENOTFOUND|EAI_AGAIN'],
    [`postgres://nobody@/nowhere?host=${temporaryFolder(t)}`, 'ENOENT'],
  ] as const) {
    const error = await connectTo('DATABASE_URL', url, log, signal, 1).catch((thrown: unknown) => thrown)
    t.match(Object(error).message, new RegExp(`^DATABASE_URL cannot be used: .*(${reason}).*$`))
    t.ok(isConnectionError(Object(error).cause), `${reason} is waited for`)
  }
})

test('a start continues once its database answers', async (t) => {
  const { serviceUrl } = await testDatabase()
  const away = await proxy(t, serviceUrl)
  await away.down()
  const waits = Promise.withResolvers<void>()
  const connecting = connectTo('DATABASE_URL', away.url, { warn: () => waits.resolve() }, new AbortController().signal)
  await waits.promise
  await away.up()
  const client = await connecting
  t.match((await client.query('select 1 as one')).rows, [{ one: 1 }])
  await client.end()
})

test('SIGTERM ends a service that waits for its database', async (t) => {
  const own = { DATABASE_URL: NOWHERE, DATA_DIR: temporaryFolder(t) }
  const service = launchService(t, own, await reservePort())
  await until(() => service.output().includes(WAITING), 5 * DEADLINE_MS)
  service.kill('SIGTERM')
  t.equal(await service.exited, 0)
  t.equal(service.output().trim().split('\n').length, 1, 'the line that says that it waits')
})
