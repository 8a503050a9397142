import { test } from 'tap'
import { RecentWriters } from '../../../src/http/reads/recent-writers.ts'

test('who wrote is remembered for 10 seconds after the last write', (t) => {
  let now = 0
  const writers = new RecentWriters(() => now)
  writers.note('user:1')
  now = 6_000
  writers.note('user:2')
  writers.note('user:1')
  now = 12_000
  t.ok(writers.has('user:1'))
  t.ok(writers.has('user:2'))
  t.notOk(writers.has('user:3'))
  now = 16_000
  t.notOk(writers.has('user:1'))
  writers.note('user:4')
  t.ok(writers.has('user:4'))
  t.notOk(writers.has('user:2'))
  t.end()
})
