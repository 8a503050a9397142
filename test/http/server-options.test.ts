import { test } from 'tap'
import { serverOptions } from '../../src/http/server-options.ts'
import { MAX_ANSWER_MS } from '../soak/scenarios/hanging.ts'

test('an idle connection is kept for longer than the longest response takes', async (t) => {
  t.ok(serverOptions.connectionTimeout > MAX_ANSWER_MS)
})
