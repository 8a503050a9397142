import { Registry } from '@prometheus-io/client'
import { test } from 'tap'
import { parseListenOverflows, watchAcceptOverflows } from '../../../src/http/observability/metrics.ts'

test('overflows of accept queues are found by their name', async (t) => {
  const text = 'TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 39830 2\nIpExt: InNoRoutes\nIpExt: 7\n'
  t.equal(parseListenOverflows(text), 39_830)
  t.equal(parseListenOverflows(text.replace('ListenOverflows', 'Other')), 0)
  t.equal(parseListenOverflows(''), 0)
})

test('the counter is read at each scrape', { skip: process.platform !== 'linux' }, async (t) => {
  const registry = new Registry()
  watchAcceptOverflows(registry)
  t.match(await registry.metrics(), /^tcp_accept_overflows_total \d+$/m)
})
