import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../../src/config/error-code.ts'
import { type ScenarioContext, ScenarioSkipped } from '../../harness/scenario/scenario.ts'

export interface SmallDisk {
  readonly path: string
  /** Fills the free space. */
  fill(): void
  free(): void
}

/** Mounts a tmpfs of so many MiB until the end of the scenario. Skips the scenario when it cannot be mounted. */
export function smallDisk(context: ScenarioContext, megabytes: number): SmallDisk {
  if (process.geteuid?.() !== 0) throw new ScenarioSkipped('only root can mount a small disk')
  const path = mkdtempSync(join(tmpdir(), 'economy-soak-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=711`, 'tmpfs', path], { stdio: 'pipe' })
  } catch (error) {
    rmdirSync(path)
    throw new ScenarioSkipped(`a small disk cannot be mounted: ${error instanceof Error ? error.message.trim() : ''}`)
  }
  context.teardown(async () => {
    execFileSync('umount', [path])
    rmdirSync(path)
  })
  const ballast = join(path, 'ballast')
  return {
    path,
    fill: () => fill(ballast),
    free: () => rmSync(ballast, { force: true }),
  }
}

function fill(ballast: string): void {
  const file = openSync(ballast, 'a')
  const block = Buffer.alloc(65_536)
  try {
    for (;;) writeSync(file, block)
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
}
