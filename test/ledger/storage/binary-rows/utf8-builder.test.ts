import { assert, double, integer, oneof, property } from 'fast-check'
import { test } from 'tap'
import { Utf8Builder } from '../../../../src/ledger/storage/text-bytes.ts'
import { runs } from '../../../harness/properties.ts'

const written = (value: number): string => {
  const text = new Utf8Builder()
  text.appendNumber(value)
  return text.bytes.toString()
}

test('a number is written as String() does', async (t) => {
  const tens = Array.from({ length: 23 }, (_, i) => 10 ** i)
  const bounds = [0, 2 ** 31 - 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, ...tens].flatMap((n) => [n - 1, n, n + 1])
  for (const value of [...bounds, ...bounds.map((n) => -n), 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.equal(written(value), String(value))
  }
  assert(
    property(oneof(integer(), integer({ min: 0, max: 99_999 }), double()), (n) => written(n) === String(n)),
    runs(100),
  )
})

test('text is built piece by piece, also beyond the initial capacity', async (t) => {
  const text = new Utf8Builder()
  const long = 'x'.repeat(20_000)
  for (let round = 0; round < 2; round += 1) {
    text.clear()
    text.appendNumber(1234)
    text.appendByte(32)
    text.appendAscii(long)
    text.appendNumber(7)
    text.appendBytes(Buffer.from('..é..'), 2, 2)
    t.equal(text.bytes.toString(), `1234 ${long}7é`)
  }
})
