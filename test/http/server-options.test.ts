import { test } from 'tap'
import { serverOptions } from '../../src/http/server-options.ts'
import { ANSWERED_MS } from '../soak/scenarios/database/hanging-statement.ts'

test('an idle connection is kept for longer than the longest response takes', (t) => {
  t.ok(serverOptions.connectionTimeout > ANSWERED_MS)
  t.end()
})
