import { test } from 'tap'
import { warnAboutOpenRoutes } from '../../src/startup/checks.ts'

test('operators’ routes that are open to everyone are logged, closed ones are not', async (t) => {
  const metrics = '/metrics (METRICS_TOKEN closes it)'
  const docs = '/docs (DOCS=off closes it)'
  const rows: readonly (readonly [string | null, boolean, readonly unknown[]])[] = [
    [null, true, [{ routes: [metrics, docs] }]],
    [null, false, [{ routes: [metrics] }]],
    ['a token', true, [{ routes: [docs] }]],
    ['a token', false, []],
  ]
  for (const [metricsToken, isOpen, expected] of rows) {
    const lines: unknown[] = []
    warnAboutOpenRoutes({ metricsToken, docs: isOpen }, { warn: (line) => void lines.push(line) })
    t.same(lines, expected)
  }
})
