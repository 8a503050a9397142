import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { test } from 'tap'
import {
  oddsHash,
  parseMultiplier,
  returnToPlayer,
  rewardOf,
  rowForNumber,
  totalWeight,
} from '../../src/features/gifts/odds.ts'
import { runs } from '../harness/properties.ts'

const row = fc.record({ multiplier: fc.nat(100_000_000), weight: fc.integer({ min: 1, max: 1_000_000 }) })
const table = fc.array(row, { minLength: 1, maxLength: 8 })
const decorationId = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })

/** A decimal number of ten-thousandths, made of digits alone. */
const decimal = (held: number): string => {
  const digits = String(held).padStart(5, '0')
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, '')
}

test('a multiplier of at most 4 decimals is read as it was written', async () => {
  fc.assert(
    fc.property(fc.nat(100_000_000), (held) => {
      assert.equal(parseMultiplier(held / 10_000), held)
      assert.equal(parseMultiplier(Number(decimal(held))), held)
    }),
    runs(20_000),
  )
})

test('any other number is not a multiplier', async () => {
  const finer = fc
    .tuple(fc.nat(9_999), fc.nat(9_999), fc.integer({ min: 1, max: 9 }))
    .map(([whole, decimals, fifth]) => Number(`${whole}.${String(decimals).padStart(4, '0')}${fifth}`))
  const greater = fc.integer({ min: 100_000_001, max: 2_000_000_000 }).map((held) => held / 10_000)
  const negative = fc.nat(100_000_000).map((held) => -(held + 1) / 10_000)
  const odd = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, 1e-5, 1e-7, 1e21, 0.00001, 10_000.0001)
  fc.assert(
    fc.property(fc.oneof(finer, greater, negative, odd), (value) => {
      assert.equal(parseMultiplier(value), null)
    }),
    runs(20_000),
  )
})

test('the hash of an odds table depends on its rows and gift only', async () => {
  fc.assert(
    fc.property(decorationId, table, (id, odds) => {
      const turned = odds.map(({ multiplier, weight }) => ({ weight, multiplier }))
      assert.equal(oddsHash(id, turned), oddsHash(id, odds))
      const rows = odds.map(({ multiplier, weight }) => `{"multiplier":${decimal(multiplier)},"weight":${weight}}`)
      const text = `{"decoration_id":${id},"odds":[${rows.join(',')}]}`
      assert.equal(oddsHash(id, odds), createHash('sha256').update(text).digest('hex'))
    }),
    runs(3_000),
  )
  fc.assert(
    fc.property(decorationId, table, row, (id, odds, more) => {
      const others = [
        [...odds, more],
        [more, ...odds],
        odds.map(({ multiplier, weight }) => ({ multiplier, weight: weight + 1 })),
      ]
      for (const other of others) {
        if (JSON.stringify(other) !== JSON.stringify(odds)) assert.notEqual(oddsHash(id, other), oddsHash(id, odds))
      }
      assert.notEqual(oddsHash((id % 1_000_000) + 1, odds), oddsHash((id % 1_000_000) + 2, odds))
    }),
    runs(1_000),
  )
})

test('every row is drawn by as many numbers as its weight', async () => {
  const light = fc.array(fc.record({ multiplier: fc.nat(100), weight: fc.integer({ min: 1, max: 30 }) }), {
    minLength: 1,
    maxLength: 6,
  })
  fc.assert(
    fc.property(light, (odds) => {
      const drawn = Array.from({ length: totalWeight(odds) }, (_, r) => odds.indexOf(rowForNumber(odds, r)))
      assert.deepEqual(
        drawn,
        odds.flatMap(({ weight }, i) => Array.from({ length: weight }, () => i)),
      )
      assert.throws(() => rowForNumber(odds, totalWeight(odds)), RangeError)
    }),
    runs(500),
  )
})

test('rewards are rounded down and what returns to players is exact', async () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), table, (stake, odds) => {
      for (const one of odds) {
        const exact = (BigInt(stake) * BigInt(one.multiplier)) / 10_000n
        const reward = rewardOf(stake, one)
        if (exact <= BigInt(Number.MAX_SAFE_INTEGER)) assert.equal(BigInt(reward), exact)
        else assert.ok(reward > Number.MAX_SAFE_INTEGER)
      }
      const { paid, staked } = returnToPlayer(odds)
      const back = odds.reduce((sum, { multiplier, weight }) => sum + BigInt(multiplier) * BigInt(weight), 0n)
      const weights = odds.reduce((sum, { weight }) => sum + BigInt(weight), 0n)
      assert.equal(paid * weights * 10_000n, back * staked)
    }),
    runs(3_000),
  )
})
