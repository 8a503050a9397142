import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'tap'
import { testDatabase } from '../harness/postgres/test-database.ts'

const script = join(import.meta.dirname, '../../scripts/bench/reads/compare.ts')

test('all implementations in the bench of reads answer the same', async (t) => {
  const { serviceUrl, ownerUrl } = await testDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'bench-reads-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const env = { ...process.env, DATABASE_URL: serviceUrl, DATABASE_OWNER_URL: ownerUrl, DATA_DIR: folder }
  const { code, out, err } = await new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [script], { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : 1, out, err }),
    )
  })
  t.equal(code, 0, err)
  const answers = out.trim().split('\n')
  t.ok(answers.length >= 10)
  for (const answer of answers) t.notMatch(answer, /: \{"data":(null|\[\])/, 'there is something to read')
})
