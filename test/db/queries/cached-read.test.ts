import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'tap'
import { CachedRead } from '../../../src/db/queries/caches.ts'
import { until } from '../../harness/until.ts'

/** Loads that the test answers, in the order in which they started. */
function loads() {
  const started: { resolve(value: string): void; reject(error: Error): void }[] = []
  const cached = new CachedRead(() => new Promise<string>((resolve, reject) => started.push({ resolve, reject })))
  return { cached, started }
}

test('it is read once, and again after an invalidation', async (t) => {
  const { cached, started } = loads()
  const first = cached.current()
  await nextTurn()
  started[0]?.resolve('a')
  t.equal(await first, 'a')
  t.equal(await cached.current(), 'a')
  t.equal(started.length, 1)
  cached.invalidate()
  const second = cached.current()
  await nextTurn()
  started[1]?.resolve('b')
  t.same([await second, await cached.current(), started.length], ['b', 'b', 2])
})

test('a load that was under way at an invalidation is for those who waited for it', async (t) => {
  const { cached, started } = loads()
  const early = cached.current()
  await nextTurn()
  cached.invalidate()
  const late = cached.current()
  await nextTurn()
  t.equal(started.length, 2)
  started[1]?.resolve('new')
  t.equal(await late, 'new')
  started[0]?.resolve('old')
  t.equal(await early, 'old')
  t.equal(await cached.current(), 'new')
})

test('a failed load is tried again; a refresh that fails leaves what was known, but nothing that was invalidated', async (t) => {
  const { cached, started } = loads()
  const failing = cached.current()
  await nextTurn()
  started[0]?.reject(new Error('away'))
  await t.rejects(failing, { message: 'away' })
  const loaded = cached.current()
  await nextTurn()
  started[1]?.resolve('a')
  await loaded
  const refreshed = cached.refresh()
  await nextTurn()
  started[2]?.resolve('b')
  t.same([await refreshed, await cached.current()], ['b', 'b'])
  const unrefreshed = cached.refresh()
  await nextTurn()
  started[3]?.reject(new Error('away'))
  t.equal(await unrefreshed, 'b')
  const invalidated = cached.refresh()
  await nextTurn()
  cached.invalidate()
  started[4]?.reject(new Error('away'))
  await t.rejects(invalidated, { message: 'away' })
})

test('what is older than a minute is loaded again, and answered from memory meanwhile', async (t) => {
  let now = performance.now()
  t.intercept(performance, 'now', { value: () => now })
  let loads = 0
  const read = new CachedRead(async () => {
    loads += 1
    if (loads === 2) throw new Error('away')
    return loads
  })
  t.equal(await read.current(), 1)
  now += 59_000
  t.equal(await read.current(), 1)
  t.equal(loads, 1)
  now += 2_000
  t.equal(await read.current(), 1, 'from memory')
  await until(() => loads === 2)
  await nextTurn()
  t.equal(await read.current(), 1, 'the load failed')
  await until(() => loads === 3)
  await nextTurn()
  t.equal(await read.current(), 3)
})
