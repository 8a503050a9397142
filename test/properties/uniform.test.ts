import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { test } from 'tap'
import { reduceWord, uniform } from '../../src/features/fairness/algorithms.ts'
import { runs } from '../harness/properties.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const label = fc.string({ maxLength: 40 })

/** The first words of the stream, read from its definition. */
function wordsOf(key: Uint8Array, label: string, count: number): bigint[] {
  const hex = Array.from({ length: Math.ceil(count / 4) }, (_, j) =>
    createHmac('sha256', key).update(`${label}|${j}`, 'utf8').digest('hex'),
  ).join('')
  return Array.from({ length: count }, (_, i) => BigInt(`0x${hex.slice(i * 16, i * 16 + 16)}`))
}

test('a draw is within its range, and is the remainder of the first word that has no bias', async () => {
  fc.assert(
    fc.property(
      key,
      label,
      fc.oneof(fc.integer({ min: 1, max: 1_000_000_000 }), fc.maxSafeNat()),
      (key, label, nat) => {
        const size = Math.max(nat, 1)
        const { r, words } = uniform(key, label, size)
        assert.ok(Number.isSafeInteger(r) && r >= 0 && r < size)
        const stream = wordsOf(key, label, words.length)
        assert.deepEqual(
          words.map((word) => BigInt(`0x${word}`)),
          stream,
        )
        const end = 2n ** 64n - (2n ** 64n % BigInt(size))
        assert.ok(stream.slice(0, -1).every((word) => word >= end))
        assert.ok((stream.at(-1) ?? end) < end)
        assert.equal(BigInt(r), (stream.at(-1) ?? 0n) % BigInt(size))
      },
    ),
    runs(2_000),
  )
})

test('a word is accepted below the largest multiple of the range, and rejected above', async () => {
  fc.assert(
    fc.property(
      fc.maxSafeNat(),
      fc.bigInt({ min: -3n, max: 3n }),
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      (nat, near, any) => {
        const size = BigInt(nat) + 1n
        const end = 2n ** 64n - (2n ** 64n % size)
        for (const word of [end + near, any]) {
          if (word < 0n || word >= 2n ** 64n) continue
          assert.equal(reduceWord(word, Number(size)), word < end ? Number(word % size) : null)
        }
      },
    ),
    runs(2_000),
  )
})

test('a rejected word is followed by the next one', async (t) => {
  // One word in 2,050 is rejected: for no range that a draw can have are there more.
  const size = Number(2n ** 64n / 2_050n) + 1
  const key = new Uint8Array(32)
  let rejected = 0
  for (let i = 0; i < 30_000; i += 1) {
    const { r, words } = uniform(key, `draw ${i}`, size)
    if (words.length === 1) continue
    rejected += 1
    const stream = wordsOf(key, `draw ${i}`, words.length)
    assert.deepEqual(
      words.map((word) => BigInt(`0x${word}`)),
      stream,
    )
    assert.equal(BigInt(r), (stream.at(-1) ?? 0n) % BigInt(size))
  }
  t.ok(rejected > 0)
})

test('small ranges are drawn evenly', async () => {
  const draws = 6_000
  fc.assert(
    fc.property(key, fc.integer({ min: 2, max: 20 }), (key, size) => {
      const counts = Array.from({ length: size }, () => 0)
      for (let i = 0; i < draws; i += 1) {
        const { r } = uniform(key, `draw ${i}`, size)
        counts[r] = (counts[r] ?? 0) + 1
      }
      const expected = draws / size
      const square = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
      // Laurent and Massart: beyond this with a probability of at most e^-20.
      const freedom = size - 1
      assert.ok(square < freedom + 2 * Math.sqrt(freedom * 20) + 2 * 20, `chi-square ${square}: ${counts.join(' ')}`)
    }),
    runs(12),
  )
})
