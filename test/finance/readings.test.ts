import { once } from 'node:events'
import { request } from 'node:http'
import Fastify from 'fastify'
import { pino } from 'pino'
import { test } from 'tap'
import { sendPieces } from '../../src/finance/readings.ts'

test('whoever asks for the head of a long reading only is not read to, and nothing fails', async (t) => {
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
    return sendPieces(reply, 'application/json', pieces(gone.signal), () => '\n')
  })
  t.teardown(() => app.close())
  const asked = request(await app.listen({ host: '127.0.0.1', port: 0 }), { method: 'HEAD' }).end()
  const [answer] = await once(asked, 'response')
  answer.resume()
  await once(answer, 'end')
  t.equal(answer.statusCode, 200)
  for (let ms = 0; ended === 0 && ms < 2_000; ms += 10) await new Promise((resolve) => setTimeout(resolve, 10))
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(ended, 1)
  t.same(log, [])
})
