import { once } from 'node:events'
import { mock } from 'node:test'
import { test } from 'tap'
import { acquire, release, type Semaphore } from '../../../src/http/limits/concurrency.ts'
import { RateLimitStore } from '../../../src/http/limits/rate-limit.ts'
import { bearer, createMinimalApp, token } from '../../harness/app/minimal-app.ts'
import { exchange, listen, openSocket, parseResponses } from '../../harness/http/raw-http.ts'
import { until } from '../../harness/until.ts'

test('the cost of a caller is counted for a minute from the first request on', async (t) => {
  const callers = new RateLimitStore()
  callers.entryFor(7, 1_000).taken += 1
  callers.entryFor(7, 60_999).taken += 30
  t.match(callers.entryFor(7, 60_999), { taken: 31, windowEnds: 61_000 })
  t.equal(callers.entryFor('7', 60_999).taken, 0, 'another caller')
  const again = callers.entryFor(7, 61_000)
  t.match(again, { taken: 0, refused: 0, windowEnds: 121_000 })
  again.running = 3
  t.match(callers.entryFor(7, 500_000), { taken: 0, running: 3 }, 'running requests outlive the window')
  t.equal(callers.size, 1, 'a caller without requests for a minute is evicted')
})

test('no caller is evicted within the window or with running requests', async (t) => {
  const callers = new RateLimitStore()
  callers.entryFor('busy', 0).running = 4
  callers.entryFor('spent', 1).taken = 1_200
  for (let id = 1; id <= 150_000; id += 1) callers.entryFor(id, 2)
  t.match(callers.entryFor('spent', 60_000), { taken: 1_200 })
  t.match(callers.entryFor('busy', 59_999), { running: 4 })
  callers.entryFor('late', 60_002)
  t.equal(callers.size, 2, 'the windows of all others have ended')
  t.match(callers.entryFor('busy', 200_000), { running: 4 })
  t.equal(callers.size, 1)
})

const empty = (): Semaphore => ({ running: 0, waiting: [] })
const most = { running: 6, waiting: 10 }

test('a semaphore starts six at a time, in order, and skips disconnected ones', async (t) => {
  const line = empty()
  const begun: number[] = []
  const gone = new Set([9, 10])
  for (let i = 1; i <= 12; i += 1) {
    t.ok(
      acquire(line, most, () => {
        if (gone.has(i)) return false
        begun.push(i)
        return true
      }),
    )
  }
  t.same(begun, [1, 2, 3, 4, 5, 6])
  release(line)
  release(line)
  t.same(begun, [1, 2, 3, 4, 5, 6, 7, 8])
  release(line)
  t.same(begun.slice(8), [11])
  for (let i = 0; i < 5; i += 1) release(line)
  t.same(begun.slice(8), [11, 12])
  t.equal(line.running, 2)
  release(line)
  release(line)
  t.equal(line.running, 0)
  t.ok(acquire(line, most, () => false))
  t.equal(line.running, 0, 'none started, none running')
})

test('a semaphore refuses when too many wait', async (t) => {
  const line = empty()
  for (let i = 0; i < 16; i += 1) t.ok(acquire(line, most, () => true) || t.fail(`no place for ${i}`))
  t.notOk(acquire(line, most, () => true))
})

const asking = (sub: string) => `GET /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token({ sub })}\r\n`
const ask = asking('7')

test('all concurrent requests of a user are answered, and other users do not wait', async (t) => {
  const { app } = await createMinimalApp(t, { rateLimit: 1_000 })
  const inject = (sub: string) => app.inject({ url: '/v1/things', headers: bearer(token({ sub })) })
  for (let i = 0; i < 20; i += 1) t.equal((await inject('7')).statusCode, 200)
  const answers = await Promise.all(Array.from({ length: 100 }, () => inject('7')))
  t.same(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]))
  const port = await listen(app)
  const piped = parseResponses(await exchange(port, `${`${ask}\r\n`.repeat(99)}${ask}Connection: close\r\n\r\n`))
  t.same([piped.length, new Set(piped.map(({ status }) => status))], [100, new Set([200])])
})

test('a disconnected client’s requests make room for waiting ones', async (t) => {
  const { app } = await createMinimalApp(t, { rateLimit: 1_000 })
  const port = await listen(app)
  let arrived = 0
  app.server.on('request', () => {
    arrived += 1
  })
  // Bodies that never arrive: these requests run until their connection is closed.
  const hanging = Array.from({ length: 4 }, () => {
    const socket = openSocket(port)
    socket.write(ask.replace('GET /v1/things', 'POST /v1/optional') + 'Content-Length: 5\r\n\r\n')
    return socket
  })
  await until(() => arrived === 4)
  let answered = false
  const waiting = exchange(port, `${ask}Connection: close\r\n\r\n`).then((response) => {
    answered = true
    return response
  })
  const gone = openSocket(port)
  gone.write(`${ask}\r\n`)
  await until(() => arrived === 6)
  t.match(await exchange(port, `${asking('8')}Connection: close\r\n\r\n`), /^HTTP\/1\.1 200 /, 'of this user only')
  t.notOk(answered, 'four are running, and a later request of another user was answered')
  gone.destroy()
  for (const socket of hanging) socket.destroy()
  t.match(await waiting, /^HTTP\/1\.1 200 /)
})

test('repeated refusals are delayed more and more, and logged once', async (t) => {
  const { app, log } = await createMinimalApp(t, { rateLimit: 1, logLevel: 'info' })
  const inject = () => app.inject({ url: '/v1/things', headers: bearer(token()) })
  const timed = async (count: number): Promise<number> => {
    const started = performance.now()
    const answers = await Promise.all(Array.from({ length: count }, inject))
    t.same(new Set(answers.map(({ statusCode }) => statusCode)), new Set([429]))
    return performance.now() - started
  }
  await inject()
  await timed(300)
  const late = await timed(1)
  const { body } = await app.inject('/metrics')
  t.match(body, 'http_request_duration_seconds_count{method="GET",route="/v1/things",status="429"} 301\n')
  t.match(body, 'http_refusals_total{reason="requests"} 301\n')
  t.ok(late >= 290, `${late} ms`)
  // With a delay that never ends.
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const last = inject()
  await app.close()
  t.equal((await last).statusCode, 429, 'a stop does not wait for it')
  const logged = log.filter((line) => line.includes('over the rate limit'))
  t.equal(logged.length, 1)
  t.match(logged[0], /"caller":"user:7","msg":"caller is over the rate limit; requests are refused"/)
})

test('a flood on one connection is read no faster than it is answered', async (t) => {
  const { app } = await createMinimalApp(t, { rateLimit: 1, logLevel: 'silent' })
  const port = await listen(app)
  let arrived = 0
  app.server.on('request', () => {
    arrived += 1
  })
  const socket = openSocket(port)
  await once(socket, 'connect')
  const flood = `${ask}\r\n`.repeat(1_000)
  let refusals = 0
  socket.on('data', (chunk) => {
    refusals += chunk.toString().split('HTTP/1.1 429').length - 1
  })
  const more = (): void => {
    while (socket.write(flood)) continue
  }
  socket.on('drain', more)
  more()
  // Refusals are delayed more and more; a chunk of 64 KiB has some 250 of these requests.
  await until(() => refusals >= 20)
  t.ok(arrived < refusals + 5_000, `${arrived} arrived, ${refusals} were refused`)
  socket.destroy()
})

test('an expensive request takes more of the limit, and one above the whole limit takes all', async (t) => {
  const { app } = await createMinimalApp(t, { rateLimit: 10, logLevel: 'silent' })
  const ask = (sub: string, url: string) => app.inject({ url, headers: bearer(token({ sub })) })
  const statuses = async (sub: string, urls: readonly string[]) => {
    const answers: number[] = []
    for (const url of urls) answers.push((await ask(sub, url)).statusCode)
    return answers
  }
  t.same(await statuses('7', ['/v1/costly', '/v1/costly', '/v1/costly']), [200, 200, 429], 'two of 4 leave 2 of 10')
  t.same(
    await statuses('7', ['/v1/things', '/v1/things', '/v1/things']),
    [200, 200, 429],
    'refused requests cost nothing',
  )
  t.same(await statuses('8', ['/v1/costliest', '/v1/things']), [200, 429])
  const { headers } = await ask('8', '/v1/costliest')
  t.ok(Number(headers['retry-after']) >= 1 && Number(headers['retry-after']) <= 60)
  t.same(await statuses('9', ['/v1/things', '/v1/costliest']), [200, 429], 'it needs the whole limit')
  t.same(
    await statuses('10', ['/v1/things?limit=200', '/v1/things?limit=200', '/v1/things?limit=200']),
    [200, 200, 429],
  )
  t.same(
    await statuses('11', ['/v1/charged', '/v1/things']),
    [200, 429],
    'a cost found later counts for the next request',
  )
})

test('expensive requests of a caller are spaced by their cost; ordinary ones do not wait', async (t) => {
  const { app } = await createMinimalApp(t, { rateLimit: 1_000, logLevel: 'silent' })
  const began = performance.now()
  const ends: string[] = []
  const ask = async (url: string): Promise<void> => {
    const { statusCode } = await app.inject({ url, headers: bearer(token({ sub: '7' })) })
    t.equal(statusCode, 200)
    ends.push(url)
  }
  await Promise.all([
    ask('/v1/costliest'),
    ask('/v1/costliest'),
    ask('/v1/costly'),
    ask('/v1/things'),
    ask('/v1/things'),
  ])
  t.same(ends.slice(-2), ['/v1/costliest', '/v1/costly'])
  // A cost of 40 is 39 ordinary requests more, of 25 ms each.
  t.ok(performance.now() - began >= 2 * 39 * 25 - 5)
})

test('a body costs by its size, and one of unknown length as much as the largest', async (t) => {
  const { app } = await createMinimalApp(t, { rateLimit: 10, logLevel: 'silent' })
  const send = (sub: string, bytes: number) =>
    app.inject({
      method: 'POST',
      url: '/v1/optional',
      headers: { ...bearer(token({ sub })), 'content-type': 'application/json' },
      payload: JSON.stringify({ pad: 'x'.repeat(bytes) }),
    })
  const after = async (sub: string): Promise<number> => {
    for (let left = 0; ; left += 1) {
      const { statusCode } = await app.inject({ url: '/v1/things', headers: bearer(token({ sub })) })
      if (statusCode === 429) return left
    }
  }
  t.equal((await send('7', 100)).statusCode, 200)
  t.equal(await after('7'), 9)
  t.equal((await send('8', 60_000)).statusCode, 200)
  t.equal(await after('8'), 6)
  const port = await listen(app)
  const chunked = asking('9').replace('GET /v1/things', 'POST /v1/optional')
  const head = `${chunked}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`
  t.match(await exchange(port, `${head}2\r\n{}\r\n0\r\n\r\n`), /^HTTP\/1\.1 200 /)
  t.equal(await after('9'), 5)
})

test('the limit of staff is a number of requests', async (t) => {
  const { app } = await createMinimalApp(t, { rateLimit: 3, logLevel: 'silent' })
  const headers = { ...bearer(token({ sub: 'ann', role: 'operator' })), 'content-type': 'application/json' }
  const payload = JSON.stringify({ text: 'x'.repeat(900_000) })
  const put = async () => (await app.inject({ method: 'PUT', url: '/admin/v1/things', headers, payload })).statusCode
  t.same([await put(), await put(), await put(), await put()], [200, 200, 200, 429])
})
