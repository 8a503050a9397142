import { test } from 'tap'
import type { Command } from '../../../src/ledger/executor/command.ts'
import { RecentKeyFilter } from '../../../src/ledger/executor/recent-key-filter.ts'

const under = (key: string | null, actor = 'user:1'): Command => ({
  call: null,
  cause: { actor, requestId: 'r', idempotency: key === null ? null : { key, requestHash: 'h' } },
  reads: [],
  dependentReads: () => [],
  decide: () => [],
  sideWrites: () => {},
  reply: () => ({ status: 200, body: '' }),
  refusalReply: () => ({ status: 422, body: '' }),
})

test('a recently used key may exist', async (t) => {
  const keys = new RecentKeyFilter()
  const [a, b, other, none] = [under('a'), under('b'), under('a', 'user:2'), under(null)]
  t.same(keys.mayExist([a, none, other], 0), [])
  t.same(keys.mayExist([b, a, none, b], 0), [a, b], 'twice at once, too')
  t.same(keys.mayExist([other, none], 0), [other])
})

test('a key whose refusal would not be stored is always looked up', async (t) => {
  const command = under('a')
  const idempotency = { key: 'a', requestHash: 'h', discardRefusal: true }
  const limited = { ...command, cause: { ...command.cause, idempotency } }
  t.same(new RecentKeyFilter().mayExist([limited], 0), [limited])
})

test('keys are dropped after very many others', async (t) => {
  const keys = new RecentKeyFilter()
  const others = (from: number): Command[] => Array.from({ length: 50_000 }, (_, i) => under(`other ${from + i}`))
  t.same(keys.mayExist([under('a'), under('b')], 0), [])
  // One or two of so many may share a fingerprint with another.
  t.ok(keys.mayExist(others(0), 0).length < 5)
  t.same(keys.mayExist([under('a')], 0).length, 1)
  t.ok(keys.mayExist(others(50_000), 0).length < 5)
  const [a, b] = [under('a'), under('b')]
  t.same(keys.mayExist([b, a], 0), [a])
})

test('when disabled, the filter has all keys looked up for some seconds', async (t) => {
  const keys = new RecentKeyFilter()
  const [a, none] = [under('a'), under(null)]
  keys.disable(1_000)
  t.same(keys.mayExist([a, none], 5_999), [a, none])
  const b = under('b')
  t.same(keys.mayExist([b], 6_000), [])
  t.same(keys.mayExist([a, b], 6_000), [a, b])
})
