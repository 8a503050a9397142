import { test } from 'tap'
import { numberCell } from '../../../../src/console/frame/cells/cells.ts'

test('exports have counts as numbers, as long as those are exact', (t) => {
  const values = [3, -3, 9_007_199_254_740_991n, 9_007_199_254_740_992n, null].map((value) => numberCell(value).value)
  t.strictSame(values, [3, -3, 9_007_199_254_740_991, '9007199254740992', null])
  t.end()
})
