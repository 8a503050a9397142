import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../../src/config/error-code.ts'
import { type ScenarioContext, ScenarioSkipped } from '../../harness/scenario/scenario-context.ts'

export interface SmallDisk {
  readonly path: string
  /** Takes all the room that is left. */
  fill(): void
  free(): void
}

/** A disk of so many MiB in memory, which goes with the scenario. Skips the scenario where it may not be made. */
export function smallDisk(context: ScenarioContext, megabytes: number): SmallDisk {
  if (process.geteuid?.() !== 0) throw new ScenarioSkipped('only root can make a small disk')
  const path = mkdtempSync(join(tmpdir(), 'economy-soak-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=711`, 'tmpfs', path], { stdio: 'pipe' })
  } catch (error) {
    rmdirSync(path)
    throw new ScenarioSkipped(`a small disk cannot be made here: ${error instanceof Error ? error.message.trim() : ''}`)
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
