import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Starts or removes the cluster of this tap run in a process of its own: tap measures the coverage of `before` and
 * `after`, and would report the code that these alone do not cover.
 */
export function runDetached(command: 'start' | 'remove'): void {
  const args = [join(import.meta.dirname, 'cluster-command.ts'), command, `${process.ppid}`]
  const env = { ...process.env, _TAPJS_PROCESSINFO_COVERAGE_: '0' }
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit', env }).status ?? 1
}
