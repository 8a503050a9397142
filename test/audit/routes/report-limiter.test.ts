import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Fastify from 'fastify'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import { ReportLimiter, type ReportLimits, streamReply } from '../../../src/audit/routes/report-limiter.ts'
import { problemOf } from '../../../src/http/errors/http-error.ts'
import { until } from '../../harness/until.ts'

test('a HEAD request for a long report ends the report without an error', async (t) => {
  const log: string[] = []
  const app = Fastify({ loggerInstance: pino({ level: 'error' }, { write: (line: string) => void log.push(line) }) })
  let ended = 0
  async function* pieces(gone: AbortSignal): AsyncGenerator<string, void> {
    try {
      for (;;) {
        gone.throwIfAborted()
        yield 'x'.repeat(70_000)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    } finally {
      ended += 1
    }
  }
  app.get('/', (_, reply) => {
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort(new Error('the client has gone')))
    return streamReply(reply, 'application/json', pieces(gone.signal), () => '\n')
  })
  t.teardown(() => app.close())
  const headRequest = request(await app.listen({ host: '127.0.0.1', port: 0 }), { method: 'HEAD' }).end()
  const [response] = await once(headRequest, 'response')
  response.resume()
  await once(response, 'end')
  t.equal(response.statusCode, 200)
  await until(() => ended > 0)
  await app.close()
  t.equal(ended, 1)
  t.same(log, [])
})

test('a report that waits too long is refused, and the next one takes its place', async (t) => {
  const app = Fastify()
  const limiter = new ReportLimiter(app, { running: 1, waiting: 1, maxWaitMs: 200 })
  const ends: (() => void)[] = []
  app.setErrorHandler((error, _, reply) => {
    const { status, code, headers } = problemOf(error)
    return reply.code(status).headers(headers).send({ code })
  })
  let people = 0
  app.get('/', async (_, reply) => {
    await limiter.acquire(`staff:${(people += 1)}`, reply)
    await new Promise<void>((resolve) => ends.push(resolve))
    return {}
  })
  t.teardown(() => app.close())
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const begun = (count: number): Promise<void> => until(() => ends.length >= count)
  const first = fetch(origin)
  await begun(1)
  const late = await fetch(origin)
  t.equal(late.status, 429)
  t.equal(late.headers.get('retry-after'), '1')
  t.same(await late.json(), { code: 'overloaded' })

  const next = fetch(origin)
  t.equal((await next).status, 429)
  ends[0]?.()
  t.equal((await first).status, 200)
  const after = fetch(origin)
  await begun(2)
  ends[1]?.()
  t.equal((await after).status, 200, 'refused reports hold no place')
})

/** An app with reports of endless text for the person that is named, and whose have begun and ended. */
async function endlessReports(t: Test, limits: ReportLimits) {
  const app = Fastify()
  const limiter = new ReportLimiter(app, limits)
  const running: string[] = []
  const ended: string[] = []
  app.get<{ Params: { person: string } }>('/:person', async ({ params: { person } }, reply) => {
    const { signal } = await limiter.acquire(person, reply)
    running.push(person)
    return streamReply(
      reply,
      'application/json',
      (async function* () {
        try {
          for (; !signal.aborted; await nextTurn()) yield 'x'.repeat(300_000)
        } finally {
          ended.push(person)
        }
      })(),
      () => '\n',
    )
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const sockets: Socket[] = []
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await app.close()
  })
  /** Asks for a report on a connection of its own. */
  const ask = (person: string): Socket => {
    const socket = connect(Number(port), '127.0.0.1')
    sockets.push(socket)
    // The other side may end it.
    socket.on('error', () => {})
    socket.write(`GET /${person} HTTP/1.1\r\nHost: test\r\n\r\n`)
    return socket
  }
  return { ask, running, ended }
}

const unhurried = { running: 2, waiting: 10, maxWaitMs: 600_000 }

test('who does not take a report loses it, and the next one takes its place', async (t) => {
  const { ask, running, ended } = await endlessReports(t, { ...unhurried, patienceMs: 300 })
  const stalled = ['ann', 'bob'].map(ask)
  const closed = stalled.map((socket) => {
    socket.once('data', () => socket.pause())
    return new Promise((resolve) => socket.once('close', resolve))
  })
  await until(() => running.length === 2)
  const next = ask('cleo')
  await once(next, 'data')
  t.equal(running.length, 3)
  // One that takes its report again in time would keep it.
  await until(() => ['ann', 'bob'].every((person) => ended.includes(person)))
  for (const socket of stalled) socket.resume()
  await Promise.all(closed)
})

test('who takes a report keeps it for as long as it lasts', async (t) => {
  const { ask } = await endlessReports(t, unhurried)
  const socket = ask('ann')
  let length = 0
  socket.on('data', (bytes: Buffer) => (length += bytes.length))
  await until(() => length > 20_000_000)
  t.equal(socket.closed, false)
})

test('a person has one report at a time, however many are free', async (t) => {
  const { ask, running } = await endlessReports(t, unhurried)
  const first = ask('ann')
  await once(first, 'data')
  const second = ask('ann')
  ask('bob')
  await until(() => running.length === 2)
  t.same(running, ['ann', 'bob'])
  first.destroy()
  await once(second, 'data')
  t.same(running, ['ann', 'bob', 'ann'])
})
