import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The least environment that production accepts, without a database. */
export const production = {
  NODE_ENV: 'production',
  JWT_SECRET: 'a secret for production',
  FAIRNESS_KEY: 'a fairness key for production',
  PII_KEY: 'a pii key for production',
  CHECKPOINT_KEY: 'a checkpoint key for production',
}

/** A folder that goes when the test ends. */
export function dataDir(t: { teardown(work: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'economy-start-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
