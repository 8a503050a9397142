import { array, assert, integer, property, record } from 'fast-check'
import { test } from 'tap'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { runs } from '../../harness/properties.ts'

test('an address has a limit a minute', async (t) => {
  let now = 0
  const limit = new AddressLimit(3, { now: () => now })
  t.same(
    [1, 2, 3, 4].map(() => limit.take('203.0.113.7')),
    [true, true, true, false],
  )
  t.equal(limit.retryAfter('203.0.113.7'), 60)
  t.ok(limit.take('203.0.113.8'), 'other addresses are counted separately')
  now = 58_500
  t.notOk(limit.take('::ffff:203.0.113.7'))
  t.equal(limit.retryAfter('203.0.113.7'), 2)
  now = 60_000
  t.ok(limit.take('203.0.113.7'), 'refused requests are not counted')
  t.notOk(limit.take('203.0.113.7', 3), 'two are left')
  t.ok(limit.take('203.0.113.7', 2))
  t.ok(limit.take('203.0.113.9', 100), 'a cost above the limit is capped at it')
  t.notOk(limit.take('203.0.113.9'))
})

test('without a limit every request passes', async (t) => {
  const limit = new AddressLimit(null)
  for (let i = 0; i < 10_000; i++) if (!limit.take('203.0.113.7')) t.fail()
  t.equal(limit.size, 0)
})

test('the store is bounded, and a flood of addresses resets no used limit', async (t) => {
  let now = 0
  const limit = new AddressLimit(600, { now: () => now, maxAddresses: 100 })
  const victim = '198.51.100.1'
  for (let i = 0; i < 600; i++) limit.take(victim)
  t.notOk(limit.take(victim))
  let granted = 0
  // 59 seconds of a new network every millisecond.
  for (; now < 59_000; now += 1) {
    if (limit.take(`2001:db8:${(now >> 8).toString(16)}:${(now & 0xff).toString(16)}::1`)) granted += 1
    if (limit.size > 101) t.fail('the store has a bound')
  }
  t.notOk(limit.take(victim), 'still counted')
  t.ok(granted > 50_000, `single requests of many addresses pass: ${granted}`)

  const full = new AddressLimit(600, { now: () => 0, maxAddresses: 100 })
  const all = Array.from({ length: 5_000 }, (_, i) => full.take(`2001:db8:0:${i.toString(16)}::1`))
  t.equal(all.filter((taken) => taken).length, 100 + 600, 'addresses without an entry share one limit')
  t.equal(full.retryAfter('2001:db8:0:1387::1'), 60)
})

test('no address ever gets more than its limit twice within a minute', async () => {
  const steps = array(record({ wait: integer({ min: 0, max: 9_000 }), address: integer({ min: 1, max: 9 }) }), {
    maxLength: 300,
  })
  assert(
    property(steps, integer({ min: 1, max: 20 }), (all, perMinute) => {
      let now = 0
      const limit = new AddressLimit(perMinute, { now: () => now, maxAddresses: 4 })
      const granted: { readonly at: number; readonly address: number }[] = []
      for (const { wait, address } of all) {
        now += wait
        if (limit.take(`203.0.113.${address}`)) granted.push({ at: now, address })
      }
      return granted.every(
        ({ at, address }) =>
          granted.filter((one) => one.address === address && one.at >= at && one.at < at + 60_000).length <=
          3 * perMinute,
      )
    }),
    runs(100),
  )
})
