import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Starts or removes the cluster of this tap run, in a process of its own: tap measures coverage in `before` and `after`
 * and would complain about what those alone do not cover.
 */
export function runDetached(command: 'start' | 'remove'): void {
  const args = [join(import.meta.dirname, 'cluster-command.ts'), command, `${process.ppid}`]
  const env = { ...process.env, _TAPJS_PROCESSINFO_COVERAGE_: '0' }
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit', env }).status ?? 1
}
