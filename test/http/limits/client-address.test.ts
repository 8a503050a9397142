import { array, assert, integer, property } from 'fast-check'
import { test } from 'tap'
import { addressKey } from '../../../src/http/limits/address-limit.ts'
import { runs } from '../../harness/properties.ts'

test('each form of an address has its key', async (t) => {
  const keys: readonly (readonly [string, string])[] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
    ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['203.0.113.7:4711', '203.0.113.7'],
    ['[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    ['[::ffff:203.0.113.7]:4711', '203.0.113.7'],
    ['203.0.113.7:', 'unknown'],
    ['localhost:4711', 'unknown'],
    ['', 'unknown'],
  ]
  for (const [ip, key] of keys) t.equal(addressKey(ip), key, ip)
})

test('only the first 64 bits of an IPv6 address count, however it is written', async () => {
  const group = integer({ min: 0, max: 0xffff })
  const eight = array(group, { minLength: 8, maxLength: 8 })
  const notMapped = eight.filter((groups) => groups[0] !== 0)
  assert(
    property(notMapped, eight, (a, b) => {
      const written = (groups: readonly number[], pad: number): string =>
        groups.map((n) => n.toString(16).padStart(pad, '0')).join(':')
      const neighbour = [...a.slice(0, 4), ...b.slice(4)]
      return addressKey(written(a, 1)) === addressKey(written(neighbour, 4).toUpperCase())
    }),
    runs(100),
  )
})
