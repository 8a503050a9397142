import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'tap'
import { BatchedLookup, type LookupLimits, QuerySlots, requestLimits } from '../../../src/db/queries/batched-lookup.ts'
import { queryBuilder } from '../../../src/db/queries/query-builder.ts'

interface Query {
  readonly keys: readonly string[]
  readonly answer: () => void
}

/** Lookups that share slots; their queries wait to be answered. */
function sharedLookups(slots: number, maxQueries = 2) {
  const limits: LookupLimits = { maxQueries, slots: new QuerySlots(slots), maxWaiting: 100, maxWaitMs: null }
  const running: Query[] = []
  const lookup = (): BatchedLookup<string, string> =>
    new BatchedLookup(
      10,
      (keys) => new Promise((resolve) => running.push({ keys, answer: () => resolve(keys) })),
      limits,
    )
  return { lookup, running, keys: () => running.map((query) => query.keys) }
}

/** Some turns of the event loop: more than a query needs to start. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 6; i += 1) await turn()
}

test('lookups share slots, and keys gather while none is free', async (t) => {
  const { lookup, running, keys } = sharedLookups(2)
  const [a, b, c] = [lookup(), lookup(), lookup()]
  const answers = [a.load('a1'), b.load('b1'), c.load('c1')]
  await settle()
  t.same(keys(), [['a1'], ['b1']], 'c waits')
  answers.push(c.load('c2'), a.load('a2'))
  await settle()
  t.equal(running.length, 2)
  running[0]?.answer()
  await settle()
  t.same(keys().slice(2), [['c1', 'c2']], 'in the order in which they came')
  running[1]?.answer()
  await settle()
  t.same(keys().slice(3), [['a2']])
  for (const { answer } of running) answer()
  t.same(await Promise.all(answers), ['a1', 'b1', 'c1', 'c2', 'a2'])
})

test('one lookup leaves slots to the others', async (t) => {
  const { lookup, running, keys } = sharedLookups(3, 2)
  const [slow, other] = [lookup(), lookup()]
  const answers = ['s1', 's2', 's3'].map(async (key, i) => {
    for (let wait = 0; wait < i * 6; wait += 1) await turn()
    return slow.load(key)
  })
  for (let i = 0; i < 4; i += 1) await settle()
  answers.push(other.load('o1'))
  await settle()
  t.same(keys(), [['s1'], ['s2'], ['o1']])
  while (running.length < 4) {
    for (const { answer } of running) answer()
    await turn()
  }
  running[3]?.answer()
  t.same(await Promise.all(answers), ['s1', 's2', 's3', 'o1'])
})

test('a failed query gives its slot back', async (t) => {
  const limits: LookupLimits = { maxQueries: 1, slots: new QuerySlots(1), maxWaiting: 10, maxWaitMs: null }
  const failing = new BatchedLookup<number, number>(1, () => Promise.reject(new Error('no')), limits)
  const working = new BatchedLookup<number, number>(1, async (keys) => keys, limits)
  const [failed, worked] = await Promise.allSettled([failing.load(1), working.load(2)])
  t.equal(failed?.status, 'rejected')
  t.match(worked, { status: 'fulfilled', value: 2 })
})

test('lookups of one database share slots, those of another do not', async (t) => {
  const database = () =>
    queryBuilder({ options: {}, connect: () => Promise.reject(new Error('not connected')), end: async () => {} })
  const [one, other] = [database(), database()]
  t.equal(requestLimits(one).slots, requestLimits(one).slots)
  t.not(requestLimits(one).slots, requestLimits(other).slots)
})
