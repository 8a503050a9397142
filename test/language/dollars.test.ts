import { test } from 'tap'
import { formatDollars } from '../../src/language/numbers.ts'

test('dollars are exact to the cent, with separators of thousands and plural forms', async (t) => {
  const rows = [
    [1, '0.01 dollars', '0.01 دولار'],
    [100, '1 dollar', 'دولار واحد'],
    [200, '2 dollars', 'دولارين'],
    [205, '2.05 dollars', '2.05 دولار'],
    [1_000, '10 dollars', '10 دولارات'],
    [2_000, '20 dollars', '20 دولارًا'],
    [10_000, '100 dollars', '100 دولار'],
    [123_450, '1,234.50 dollars', '1,234.50 دولار'],
    [9_007_199_254_740_991, '90,071,992,547,409.91 dollars', '90,071,992,547,409.91 دولار'],
  ] as const
  for (const [cents, en, ar] of rows) t.same([formatDollars('en', cents), formatDollars('ar', cents)], [en, ar])
})
