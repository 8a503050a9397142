import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An empty folder that is removed after the test. */
export function temporaryFolder(t: { teardown(work: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'economy-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
