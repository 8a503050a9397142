import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'tap'

/** Runs these files as `npm test` would, in one process after the other; answers the exit code and the output. */
function run(
  ...files: readonly string[]
): Promise<{ readonly code: unknown; readonly out: string; readonly err: string }> {
  const fixtures = files.map((file) => `test/run/fixtures/${file}.ts`)
  const args = [join(import.meta.dirname, 'main.ts'), '--jobs', '1', ...fixtures]
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: { PATH, HOME, NODE_COMPILE_CACHE } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : error.code, out, err }),
    )
  })
}

test('a run goes through all files, says what failed, and fails', async (t) => {
  const { code, out } = await run('fails', 'breaks', 'crashes', 'passes', 'fails-late')
  t.equal(code, 1)
  const end = out.slice(out.indexOf('\nFailed:\n')).replaceAll('test/run/fixtures/', '')
  t.match(out, /^ok .*passes\.ts$/m, 'a process that crashed is followed by another one')
  for (const failed of [
    'fails.ts > outer > inner > one is two',
    'fails.ts > throws > on purpose',
    'breaks.ts > loading the file',
    'crashes.ts > the process ended: SIGKILL',
    'test/run/worker.ts > the process ended: 1',
  ]) {
    t.match(end, failed)
  }
  t.match(out, 'while it is loaded')
  t.match(end, /^3 passed, 5 failed, 1 skipped$/m)
})

test('what cannot be run is said, without a stack', async (t) => {
  for (const wrong of ['none', '../README']) {
    t.match(await run(wrong), { code: 2, err: /^[^\n]+\n$/ }, wrong)
  }
})
