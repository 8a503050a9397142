import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Binaries, findBinaries } from '../../../src/db/cluster/cluster.ts'

/** Where Debian puts PostgreSQL, a folder a version. */
const DEBIAN_FOLDER = '/usr/lib/postgresql'

/**
 * The PostgreSQL that the tests' clusters run: the one in the folder of the environment variable TEST_POSTGRES_BIN, such
 * as /usr/lib/postgresql/15/bin, else the one that npm installed.
 */
export async function testBinaries(): Promise<Binaries> {
  const folder = process.env['TEST_POSTGRES_BIN']
  if (folder === '') throw new Error("TEST_POSTGRES_BIN is empty: Debian's PostgreSQL is not installed")
  return folder === undefined ? findBinaries() : binariesIn(folder)
}

/** Debian's newest PostgreSQL; undefined when none is installed. */
export function debianBinaries(): Binaries | undefined {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER).filter((name) => /^\d+$/.test(name)) : []
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0]
  return newest === undefined ? undefined : binariesIn(join(DEBIAN_FOLDER, newest, 'bin'))
}

function binariesIn(folder: string): Binaries {
  const program = (name: string): string => join(folder, name)
  // Versions before 17 have no built-in locales.
  const locale = ['--locale=C.UTF-8']
  return { initdb: program('initdb'), pg_ctl: program('pg_ctl'), postgres: program('postgres'), locale }
}
