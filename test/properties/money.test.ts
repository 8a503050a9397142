import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'tap'
import { percentOf, product, share } from '../../src/ledger/rules/money.ts'
import { runs } from '../harness/properties.ts'

const MAX_AMOUNT = Number.MAX_SAFE_INTEGER

/** Amounts of all sizes, those around powers of two and the largest ones included. */
const amount = fc.oneof(
  fc.nat(100_000),
  fc.maxSafeNat(),
  fc.nat(1_000).map((below) => MAX_AMOUNT - below),
  fc
    .tuple(fc.nat(53), fc.integer({ min: -2, max: 2 }))
    .map(([power, near]) => Math.min(Math.max(2 ** power + near, 0), MAX_AMOUNT)),
)

/** Exact as long as it can be held; beyond, it must at least be seen to be beyond. */
function assertExact(result: number, exact: bigint): void {
  if (exact <= BigInt(MAX_AMOUNT)) assert.equal(BigInt(result), exact)
  else assert.ok(result > MAX_AMOUNT)
}

test('a share is rounded down and never by more', async () => {
  fc.assert(
    fc.property(
      amount,
      fc.oneof(fc.nat(100), fc.nat(100_000_000), amount),
      fc.oneof(fc.nat(20_000), amount),
      (of, numerator, less) => {
        const denominator = less + 1
        fc.pre(denominator <= MAX_AMOUNT)
        assertExact(share(of, numerator, denominator), (BigInt(of) * BigInt(numerator)) / BigInt(denominator))
      },
    ),
    runs(20_000),
  )
})

test('a share of one below a multiple is not rounded up', async () => {
  fc.assert(
    fc.property(amount, fc.nat(200_000_000), (of, less) => {
      const denominator = less + 1
      const near = Math.max(Math.floor(of / denominator) * denominator - 1, 0)
      assertExact(share(near, 1, denominator), BigInt(near) / BigInt(denominator))
    }),
    runs(20_000),
  )
})

test('a percentage of any amount is exact', async () => {
  fc.assert(
    fc.property(amount, fc.nat(100), (of, percent) => {
      assert.equal(BigInt(percentOf(of, percent)), (BigInt(of) * BigInt(percent)) / 100n)
    }),
    runs(20_000),
  )
})

test('a product is exact or nothing', async () => {
  const factor = fc.oneof(
    fc.integer({ min: 1, max: 10_000 }),
    amount.map((one) => Math.max(one, 1)),
  )
  fc.assert(
    fc.property(fc.oneof(fc.constant(0), factor), fc.array(factor, { maxLength: 3 }), (first, rest) => {
      const exact = [first, ...rest].reduce((result, one) => result * BigInt(one), 1n)
      const result = product(first, ...rest)
      assert.equal(result === null ? null : BigInt(result), exact <= BigInt(MAX_AMOUNT) ? exact : null)
    }),
    runs(20_000),
  )
})
