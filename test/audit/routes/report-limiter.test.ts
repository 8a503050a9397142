import { once } from 'node:events'
import { request } from 'node:http'
import Fastify from 'fastify'
import { pino } from 'pino'
import { test } from 'tap'
import { ReportLimiter, streamReply } from '../../../src/audit/routes/report-limiter.ts'
import { problemOf } from '../../../src/http/errors/problem.ts'
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
  app.get('/', async (_, reply) => {
    await limiter.acquire(reply)
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
