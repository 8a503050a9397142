import { test } from 'tap'
import { createLogger, LogSampler } from '../../../src/http/observability/logging.ts'

function logging() {
  const lines: string[] = []
  const sampler = new LogSampler()
  const log = createLogger('info', { write: (line) => void lines.push(line) }, sampler)
  const parsed = (): Record<string, unknown>[] => lines.map((line) => JSON.parse(line))
  const count = (message: string): number => parsed().filter(({ msg }) => msg === message).length
  return { log, sampler, parsed, count }
}

test('a very frequent message is logged some times, with the number of suppressed lines', async (t) => {
  const { log, sampler, parsed, count } = logging()
  for (let i = 0; i < 5_000; i += 1) log.warn({ err: new Error(`socket ${i}`) }, 'socket failed')
  log.info('stopping')
  log.error({ err: new Error('once') }, 'prune failed')
  t.equal(count('socket failed'), 50)
  t.same([count('stopping'), count('prune failed')], [1, 1])
  sampler.flush()
  t.match(parsed().at(-1), { level: 40, suppressed: 4_950, of: 'socket failed' })
  log.warn('socket failed')
  t.equal(count('socket failed'), 51, 'another second')
  sampler.flush()
  t.equal(count('log lines suppressed within a second'), 1)
})

test('all messages together are bounded, and the first of each kind is logged', async (t) => {
  const { log, sampler, parsed, count } = logging()
  for (let i = 0; i < 100; i += 1) for (let kind = 0; kind < 30; kind += 1) log.info({}, `message ${kind}`)
  t.equal(parsed().length, 200)
  log.info('stopping')
  t.equal(count('stopping'), 1)
  for (const status of [500, 503]) for (const route of ['/a', '/b']) log.error({ status, route }, 'request failed')
  t.equal(count('request failed'), 4, 'each status and route')
  sampler.flush()
  t.equal(
    parsed().reduce((sum, { suppressed }) => sum + Number(suppressed ?? 0), 0),
    3_000 - 200,
  )
})

test('lines of requests leave room for others, and lower levels for warnings and errors', async (t) => {
  const { log, parsed, count } = logging()
  const fifty = (write: (i: number) => void): void => Array.from({ length: 50 }, (_, i) => i).forEach(write)
  for (let route = 0; route < 10; route += 1) fifty(() => log.info({ status: 404, route: `/${route}` }, 'request'))
  fifty((i) => log.error({ status: 500, route: '/a', err: new Error(`failure ${i}`) }, 'request failed'))
  t.ok(count('request') <= 200 + 10)
  t.equal(count('request failed'), 50)
  for (let route = 0; route < 10; route += 1)
    fifty(() => log.error({ status: 500, route: `/${route}` }, 'request failed'))
  t.ok(parsed().length <= 2 * (200 + 11))
  for (let kind = 0; kind < 10; kind += 1) fifty(() => log.info(`message ${kind}`))
  fifty(() => log.warn('event loop blocked'))
  t.equal(count('event loop blocked'), 50)
})

test('the number of suppressed lines is logged after a second, and kinds are bounded', async (t) => {
  const { log, parsed, count } = logging()
  for (let i = 0; i < 60; i += 1) log.info('often')
  while (count('log lines suppressed within a second') === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  for (let i = 0; i < 3_000; i += 1) log.info(`message ${i}`)
  t.ok(parsed().length < 1_000 + 200)
})
