import { assert, integer, oneof, property } from 'fast-check'
import { test } from 'tap'
import { formatAmount, parseAmount } from '../../../src/features/wallet/amount.ts'
import { currencies } from '../../../src/ledger/rules/account.ts'
import { centsToDollars, dollarsToCents } from '../../../src/ledger/rules/money.ts'
import { runs } from '../../harness/properties.ts'

test('dollars are parsed digit by digit', async (t) => {
  const rows: readonly [sent: string | number, held: number | null][] = [
    ['0', 0],
    ['1', 100],
    ['1.2', 120],
    ['1.29', 129],
    ['001.05', 105],
    ['0.01', 1],
    ['9999999999999.99', 999_999_999_999_999],
    ['99999999999999', null],
    ['1.290', null],
    ['1.', null],
    ['.5', null],
    ['', null],
    [' 1', null],
    ['1\n', null],
    ['+1', null],
    ['-1', null],
    ['1e2', null],
    ['0x10', null],
    ['١', null],
    ['NaN', null],
    [1e2, 10_000],
    [1.29, 129],
    [0.1 + 0.2, null],
    [0.29, 29],
    [1.005, null],
    [4.35, 435],
    [-0, 0],
    [-1, null],
    [1e21, null],
    [1e-7, null],
    [9_999_999_999_999.99, 999_999_999_999_999],
    [10_000_000_000_000, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
  ]
  for (const [sent, held] of rows) t.equal(dollarsToCents(sent), held, JSON.stringify(sent))
})

/** The shortest decimal form, by long division on integers alone. */
function decimal(units: bigint): string {
  const rest = units % 100n
  const whole = `${units / 100n}`
  if (rest === 0n) return whole
  return rest % 10n === 0n ? `${whole}.${rest / 10n}` : `${whole}.${rest < 10n ? '0' : ''}${rest}`
}

test('dollars are printed digit by digit, to the largest balance, and parsed as they were printed', async (t) => {
  const held = oneof(
    integer({ min: 0, max: 100_000 }),
    integer({ min: 0, max: 999_999_999_999_999 }),
    integer({ min: Number.MAX_SAFE_INTEGER - 1_000_000, max: Number.MAX_SAFE_INTEGER }),
  )
  assert(
    property(held, (units) => {
      const text = decimal(BigInt(units))
      const isParsed = dollarsToCents(text) === units && dollarsToCents(Number(text)) === units
      return JSON.stringify(centsToDollars(units)) === text && (isParsed || units > 999_999_999_999_999)
    }),
    runs(20_000),
  )
  for (let units = 0; units <= 1_000; units += 1) {
    if (JSON.stringify(centsToDollars(units)) !== String(units / 100)) t.fail(`${units} cents`)
  }
  t.equal(JSON.stringify(centsToDollars(Number.MAX_SAFE_INTEGER)), '90071992547409.91')
  t.equal(JSON.stringify(centsToDollars(Number.MAX_SAFE_INTEGER - 1)), '90071992547409.9')
})

test('valid amounts of each currency', async (t) => {
  for (const currency of currencies) {
    const whole = currency === 'coins' || currency === 'diamonds' || currency === 'target'
    const rows: readonly [sent: string | number, asked: number | undefined][] = [
      [1, whole ? 1 : 100],
      [100, whole ? 100 : 10_000],
      [1.5, whole ? undefined : 150],
      [0.01, whole ? undefined : 1],
      [0.001, undefined],
      [0, undefined],
      ['0.00', undefined],
      [-1, undefined],
      ['1', whole ? undefined : 100],
      ['1.5', whole ? undefined : 150],
      [Number.MAX_SAFE_INTEGER, whole ? Number.MAX_SAFE_INTEGER : undefined],
      [Number.MAX_SAFE_INTEGER + 1, undefined],
      ['9999999999999.99', whole ? undefined : 999_999_999_999_999],
    ]
    for (const [sent, units] of rows) {
      t.same(parseAmount(currency, sent), units ?? null, `${JSON.stringify(sent)} ${currency}`)
    }
    t.equal(JSON.stringify(formatAmount(currency, 1250)), whole ? '1250' : '12.5')
  }
})
