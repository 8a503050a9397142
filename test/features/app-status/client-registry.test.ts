import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { ClientRegistry } from '../../../src/features/app-status/client-registry.ts'
import { openClient, openTestPool } from '../../harness/postgres/connections.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'

/** How long a request waits for the lookup of its token. */
const TIMEOUT_MS = 1_000

test('each request waits a full second of its own for the lookup of a token', async (t) => {
  const { ownerUrl, serviceUrl } = await testDatabase()
  const pool = openTestPool(t, serviceUrl, 1)
  const blocker = await openClient(t, ownerUrl)
  await blocker.query('begin; lock table told_clients in access exclusive mode')
  const registry = new ClientRegistry(pool, console)
  const waitFor = async (key: string): Promise<number> => {
    const startedAt = performance.now()
    await registry.load(key)
    return performance.now() - startedAt
  }
  // Its query runs; the others share the next one.
  void registry.load('running')
  const first = waitFor('shared')
  await sleep(TIMEOUT_MS / 2)
  const second = waitFor('shared')
  await sleep(TIMEOUT_MS / 4)
  const third = waitFor('shared')
  t.ok((await first) > TIMEOUT_MS - 10, 'the first gives up after a second')
  t.ok((await second) > TIMEOUT_MS - 10, 'and so does the second, a second after its own start')
  t.equal(registry.get('shared'), undefined)
  await blocker.query('rollback')
  await third
  await until(() => registry.get('shared') !== undefined)
  t.match(registry.get('shared'), { client: null }, 'the answer that came late is kept')
})
