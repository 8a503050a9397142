import { createServer, type RequestListener } from 'node:http'
import { type Test, test } from 'tap'
import { listenOn } from '../process/listen-on.ts'
import { until } from '../until.ts'
import { LoadGenerator } from './load-generator.ts'

const REQUEST = Buffer.from('GET /now HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')

async function listen(t: Test, answer: RequestListener): Promise<number> {
  const server = createServer(answer)
  t.teardown(() => server.close())
  return listenOn(server)
}

test('every answer is counted once, whatever its length', async (t) => {
  // A body in several pieces, an empty one, and a refusal that ends the connection.
  const bodies = ['x'.repeat(100_000), '', 'no']
  let asked = 0
  const port = await listen(t, (_request, response) => {
    const i = asked % bodies.length
    asked += 1
    response.writeHead(i === 2 ? 429 : 200, {
      'content-length': bodies[i]?.length,
      ...(i === 2 && { connection: 'close' }),
    })
    response.end(bodies[i])
  })
  const target = { ports: [port], connections: 3, accepts: (status: number) => status < 500 }
  const sent = await LoadGenerator.run(target, (generator) => generator.send(30, () => REQUEST))
  t.equal(sent.answered, 30)
  t.strictSame(sent.statuses, { 200: 20, 429: 10 })
  const closed = await LoadGenerator.run(target, (generator) => generator.closed(0.05, () => REQUEST))
  const paced = await LoadGenerator.run(target, (generator) => generator.paced(400, 0.05, () => REQUEST))
  t.equal(paced.answered, 20)
  t.equal(asked, 30 + closed.answered + 20)
})

test('latency counts from when a request was due', async (t) => {
  let asked = 0
  const port = await listen(t, (_request, response) => {
    asked += 1
    // The first request delays all others, which are due meanwhile.
    if (asked === 1) setTimeout(() => response.end('{}'), 200)
    else response.end('{}')
  })
  const target = { ports: [port], connections: 1 }
  const { p50, max } = await LoadGenerator.run(target, (generator) => generator.paced(100, 0.1, () => REQUEST))
  t.ok(p50 > 100 && max > 190, `p50 ${p50}, max ${max}`)
})

test('an unexpected status, a closed connection and a server that is gone end the load', async (t) => {
  const refusing = await listen(t, (_request, response) => response.writeHead(422, { 'content-length': 3 }).end('why'))
  const cutting = await listen(t, (request) => request.socket.destroy())
  const send = (port: number) =>
    LoadGenerator.run({ ports: [port], connections: 2 }, (generator) => generator.send(5, () => REQUEST))
  await t.rejects(send(refusing), { message: 'answered 422: why' })
  await t.rejects(send(cutting))
  await t.rejects(send(1), { code: 'ECONNREFUSED' })
})

test('a connection that the server gave up before anything was asked is opened again', async (t) => {
  const options = { headersTimeout: 1_000, requestTimeout: 1_000, connectionsCheckingInterval: 20 }
  const server = createServer(options, (_request, response) => response.setHeader('content-length', 0).end())
  t.teardown(() => server.close())
  let closed = 0
  server.on('connection', (socket) => socket.once('close', () => (closed += 1)))
  const port = await listenOn(server)
  const generator = await LoadGenerator.open({ ports: [port], connections: 2 })
  t.teardown(() => generator.close())
  await until(() => closed === 2)
  t.same((await generator.send(4, () => REQUEST)).statuses, { 200: 4 })
})
