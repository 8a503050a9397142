import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'tap'
import { onlyInFullRun } from '../harness/long-tests.ts'

// In a process of its own: the limit is one of the process, and what other tests left alive would count.

test('the heap grows to much less than five times the live objects', { skip: onlyInFullRun }, async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'heap-process.ts')])
  const { least, most } = JSON.parse(stdout)
  t.ok(most < 3 * least, `${most} is little above ${least}`)
})
