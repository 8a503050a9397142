import { createHmac } from 'node:crypto'
import { test } from 'tap'
import { hmac } from '../../../src/ledger/rules/hash.ts'

test('the HMAC agrees with the standard for every length of key and text', async (t) => {
  // RFC 4231, case 2.
  const known = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
  t.equal(hmac('Jefe', 'what do ya want for nothing?').toString('hex'), known)
  t.equal(hmac(Buffer.from('Jefe'), 'what do ya want for nothing?').toString('hex'), known)
  const texts = ['', 'lg1|1-1|1|1|0|0', 'é€😀', 'x'.repeat(256), '€'.repeat(256), '😀'.repeat(128), '€'.repeat(257)]
  for (const size of [0, 31, 32, 33, 64, 65]) {
    const key = Buffer.from(Array.from({ length: size }, (_, i) => (i * 89 + 7) % 256))
    for (const text of [...texts, ...texts.toReversed()]) {
      t.same(hmac(key, text), createHmac('sha256', key).update(text).digest(), `${size} bytes and ${text.length} units`)
    }
  }
})
