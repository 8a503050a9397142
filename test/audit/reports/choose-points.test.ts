import { test } from 'tap'
import { choosePoints } from '../../../src/audit/reports/accounts/balance-series.ts'

test('as many points as are asked for, evenly spread, and always the last one', async (t) => {
  for (let length = 100; length <= 400; length += 1) {
    const points = Array.from({ length }, (_, i) => i)
    const chosen = choosePoints(points, 100)
    t.same([chosen.length, chosen.at(-1)], [100, length - 1], `of ${length}`)
    const gaps = chosen.map((point, i) => point - (chosen[i - 1] ?? -1))
    t.ok(Math.max(...gaps) - Math.min(...gaps) <= 1, `of ${length}, evenly`)
  }
})
