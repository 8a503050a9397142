import { test } from 'tap'
import { formatCount, formatNumber, type PluralForms } from '../../src/language/numbers.ts'

const days: PluralForms = {
  en: { one: '# day', other: '# days' },
  ar: { zero: 'لا أيام', one: 'يوم واحد', two: 'يومان', few: '# أيام', many: '# يومًا', other: '# يوم' },
}

test('a count takes the plural form of its language', async (t) => {
  const counts = [0, 1, 2, 3, 10, 11, 99, 100, 102, 103, 1_000, 2_511]
  t.same(
    counts.map((count) => formatCount('ar', count, days)),
    [
      'لا أيام',
      'يوم واحد',
      'يومان',
      '3 أيام',
      '10 أيام',
      '11 يومًا',
      '99 يومًا',
      '100 يوم',
      '102 يوم',
      '103 أيام',
      '1,000 يوم',
      '2,511 يومًا',
    ],
  )
  t.same(
    [0, 1, 2, 2_511].map((count) => formatCount('en', count, days)),
    ['0 days', '1 day', '2 days', '2,511 days'],
  )
})

test('numbers have the digits 0 to 9 in both languages', async (t) => {
  t.same([formatNumber('en', 9_007_199_254_740_993n), formatNumber('ar', 2_000)], ['9,007,199,254,740,993', '2,000'])
})
