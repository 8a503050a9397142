import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from '@prometheus-io/client'
import { fastify } from 'fastify'
import { test } from 'tap'
import { EventLoopLag, StallLog } from '../../../src/http/observability/event-loop-lag.ts'
import { bearer, createMinimalApp, token } from '../../harness/app/minimal-app.ts'
import { until } from '../../harness/until.ts'

const near = (value: number, wanted: number): boolean => Math.abs(value - wanted) <= wanted * 0.02

test('a stall counts for as long as it lasted, and is visible for at least a minute', async (t) => {
  const lag = new EventLoopLag(new Registry())
  t.same([lag.seconds(0.5), lag.seconds(1)], [0, 0])
  let now = 0
  const quiet = (seconds: number): void => {
    for (const end = now + seconds * 1_000; now < end; now += 20) lag.record(0.1, now)
  }
  quiet(30)
  lag.record(2_000, (now += 2_000))
  t.ok(near(lag.seconds(1), 2), `${lag.seconds(1)}`)
  t.ok(lag.seconds(0.99) > 1, 'two of thirty-two seconds are more than one in a hundred')
  t.ok(lag.seconds(0.5) < 0.001)
  quiet(60)
  t.ok(near(lag.seconds(1), 2), 'in the window before')
  quiet(65)
  t.ok(lag.seconds(1) < 0.001, 'both windows are newer')
  lag.record(2_000, (now += 2_000))
  lag.record(0, (now += 300_000))
  t.ok(lag.seconds(1) < 0.001, 'a window without measurements leaves nothing')
})

const working = (url: string) => ({ method: 'GET', routeOptions: { url } }) as const

test('a stall of seconds is logged once, with the route that was running', async (t) => {
  const lines: unknown[] = []
  const stalls = new StallLog({ warn: (...line: unknown[]) => void lines.push(line) })
  const last = () => lines.splice(0)
  stalls.tick(0, 0)
  stalls.begin(working('/a'), 5)
  stalls.begin(working('/slow'), 6)
  stalls.begin(working('/b'), 3_006)
  stalls.end(working('/a'), 3_007)
  stalls.tick(2_990, 3_010)
  t.same(last(), [[{ route: 'GET /slow', lag_ms: 2_990, stalls_without_line: 0 }, 'event loop blocked']])
  stalls.begin(working('/slow'), 3_020)
  stalls.tick(2_000, 5_020)
  t.same(last(), [], 'not again within ten seconds')
  stalls.begin(working('/a'), 19_001)
  stalls.end(working('/a'), 19_002)
  stalls.tick(0, 19_003)
  stalls.end(working('/later'), 22_003)
  stalls.begin(working('/b'), 22_004)
  stalls.tick(2_981, 22_005)
  t.same(last(), [[{ route: 'GET /later', lag_ms: 2_981, stalls_without_line: 1 }, 'event loop blocked']])
  stalls.tick(999, 60_000)
  t.same(last(), [], 'a shorter stall is not logged')
})

test('the service measures and logs its own stalls', async (t) => {
  const { app, log } = await createMinimalApp(t, { logLevel: 'info' })
  const isLogged = (line: string): boolean => line.includes('event loop blocked') && line.includes('/v1/mishaps/:name')
  const longestStall = async (): Promise<number> => {
    const { body } = await app.inject('/metrics')
    return Number(/event_loop_lag_seconds\{quantile="1"\} ([\d.e-]+)/.exec(body)?.[1])
  }
  // What runs before the first tick counts for no request.
  await until(async () => (await longestStall()) > 0)
  // A busy machine may have stalled it before, and then the next line comes after ten seconds.
  while (!log.some(isLogged)) {
    const { statusCode } = await app.inject({ url: '/v1/mishaps/stall', headers: bearer(token()) })
    t.equal(statusCode, 500)
    await sleep(50)
  }
  const [line] = log.filter(isLogged).map((text) => JSON.parse(text))
  t.match(line, { level: 40, route: 'GET /v1/mishaps/:name' })
  t.ok(line.lag_ms >= 1_000)
  t.ok((await longestStall()) >= 1)
  const { body } = await app.inject('/metrics')
  t.match(body, '# TYPE event_loop_lag_seconds summary')
  t.match(body, 'event_loop_lag_seconds{quantile="0.99"}')
  t.match(body, /^event_loop_lag_seconds_sum [1-9]/m, 'the stall was of seconds')
  t.match(body, /^event_loop_lag_seconds_count [1-9]/m)
})

test('what blocks the event loop before the app is ready is no stall', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const lines: unknown[] = []
  const lag = new EventLoopLag(new Registry())
  lag.watch(app, { warn: (line: object) => void lines.push(line) })
  app.register(async () => {
    for (const end = performance.now() + 2_000; performance.now() < end; ) continue
  })
  await app.ready()
  await until(() => lag.seconds(1) > 0)
  t.ok(lag.seconds(1) < 1, `${lag.seconds(1)}`)
  t.same(lines, [])
})

test('a stall is attributed to the running request, also when its body came late', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const routes: unknown[] = []
  new EventLoopLag(new Registry()).watch(app, { warn: (line: object) => void routes.push(Object(line).route) })
  app.post('/late', async () => {
    for (const end = performance.now() + 1_200; performance.now() < end; ) continue
    // The timer ticks before the response.
    await sleep(50)
    return {}
  })
  const late = async function* () {
    await sleep(100)
    yield '{}'
  }
  await until(async () => {
    const headers = { 'content-type': 'application/json' }
    await app.inject({ method: 'POST', url: '/late', headers, payload: Readable.from(late()) })
    return routes.includes('POST /late')
  })
  t.equal(routes.at(-1), 'POST /late')
})
