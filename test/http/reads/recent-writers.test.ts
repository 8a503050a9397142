import { test } from 'tap'
import { RecentWriters } from '../../../src/http/reads/recent-writers.ts'

test('who wrote is remembered for 10 seconds after the last write', (t) => {
  let now = 0
  const writers = new RecentWriters(() => now)
  const has = (actor: string) => writers.mayLack(actor, 100)
  writers.record('user:1', 1)
  now = 6_000
  writers.record('user:2', 2)
  writers.record('user:1', 3)
  now = 12_000
  t.ok(has('user:1'))
  t.ok(has('user:2'))
  t.notOk(has('user:3'))
  now = 16_000
  t.notOk(has('user:1'))
  writers.record('user:4', 4)
  t.ok(has('user:4'))
  t.notOk(has('user:2'))
  t.end()
})

test('a standby that lacks a write older than 10 seconds is read by nobody', (t) => {
  let now = 0
  const writers = new RecentWriters(() => now)
  writers.record('user:1', 7)
  writers.record('user:1', 5)
  writers.record('user:2', 6)
  now = 9_999
  t.notOk(writers.mayLack('user:3', 4))
  now = 10_000
  t.ok(writers.mayLack('user:1', 6))
  t.ok(writers.mayLack('user:3', 6))
  t.notOk(writers.mayLack('user:1', 7))
  t.end()
})
