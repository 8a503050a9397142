import { test } from 'tap'
import { ANSWERED_MS } from '../../scripts/soak/scenarios/hanging-statement.ts'
import { serverOptions } from '../../src/http/server-options.ts'

test('a connection on which nothing moves is kept for longer than the longest answer takes', (t) => {
  t.ok(serverOptions.connectionTimeout > ANSWERED_MS)
  t.end()
})
