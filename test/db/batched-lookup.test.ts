import { test } from 'tap'
import { BatchedLookup } from '../../src/db/batched-lookup.ts'

/** A query that answers when it is told to. */
function slowQuery() {
  const asked: (readonly number[])[] = []
  const answers: (() => void)[] = []
  const query = async (keys: readonly number[]): Promise<readonly number[]> => {
    asked.push(keys)
    await new Promise<void>((resolve) => answers.push(resolve))
    return keys.map((key) => key * 10)
  }
  return { asked, query, answer: () => answers.shift()?.() }
}

test('keys that come while a query runs go with the next one, so many at a time', async (t) => {
  const { asked, query, answer } = slowQuery()
  const lookup = new BatchedLookup(3, query)
  const first = lookup.load(1)
  const others = [2, 3, 3, 4].map((key) => lookup.load(key))
  t.same(asked, [[1]], 'the first does not wait for others')
  answer()
  t.equal(await first, 10)
  t.same(asked, [[1], [2, 3, 3]])
  answer()
  t.same(await Promise.all(others.slice(0, 3)), [20, 30, 30])
  t.same(asked, [[1], [2, 3, 3], [4]])
  answer()
  t.equal(await others[3], 40)
  const later = lookup.load(5)
  answer()
  t.equal(await later, 50, 'it begins again after a rest')
})

test('a key never joins a query that has begun, not even one for the same key', async (t) => {
  let stored = 'before'
  const reads: ((value: string) => void)[] = []
  const lookup = new BatchedLookup(10, async (keys: readonly number[]) => {
    const seen = stored
    await new Promise<string>((resolve) => reads.push(resolve))
    return keys.map(() => seen)
  })
  const early = lookup.load(1)
  stored = 'after'
  const late = lookup.load(1)
  reads.shift()?.('')
  t.equal(await early, 'before')
  while (reads.length === 0) await new Promise((resolve) => setImmediate(resolve))
  reads.shift()?.('')
  t.equal(await late, 'after')
})

test('a key that cannot be loaded fails alone', async (t) => {
  const lookup = new BatchedLookup(10, async (keys: readonly number[]) => {
    await new Promise((resolve) => setImmediate(resolve))
    if (keys.includes(3)) throw new Error('3 is damaged')
    return keys
  })
  const results = await Promise.allSettled([1, 2, 3, 4].map((key) => lookup.load(key)))
  t.match(results, [{ value: 1 }, { value: 2 }, { reason: { message: '3 is damaged' } }, { value: 4 }])
})
