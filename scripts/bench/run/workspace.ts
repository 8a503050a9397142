import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Names by the magic number of statfs(2). */
const fileSystems: ReadonlyMap<number, string> = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x794c7630, 'overlay'],
  [0x2fc12fc1, 'zfs'],
])
const inMemory: readonly number[] = [0x01021994, 0x858458f6]

export interface Workspace {
  readonly path: string
  readonly fileSystem: string
}

/** Creates a folder on a disk, not in memory, so that fsync costs what it would cost a service. */
export function makeWorkspace(): Workspace {
  for (const base of [tmpdir(), '/var/tmp', process.cwd()]) {
    const { type } = statfsSync(base)
    if (inMemory.includes(type)) continue
    const fileSystem = fileSystems.get(type) ?? `file system 0x${type.toString(16)}`
    return { path: mkdtempSync(join(base, 'economy-bench-')), fileSystem }
  }
  throw new Error('All folders for temporary files are in memory; set TMPDIR to a folder on a disk.')
}
