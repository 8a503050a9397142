import type { Kysely } from 'kysely'
import type { Log } from '../log.ts'
import { openPool, readPool } from '../pool.ts'
import type { Tables } from '../tables.ts'
import { queryBuilder } from './query-builder.ts'

/** Two reports run at a time, and short reads of the ledger need a third. */
const MAX_CONNECTIONS = 3

/**
 * For reports, with PostgreSQL's own plans: the settings for reads by key would slow them down. Compiling a statement
 * takes longer than what it saves in reports that read part by part.
 */
export const openReportDatabase = (url: string, applicationName: string, log: Log): Kysely<Tables> =>
  queryBuilder(
    readPool(
      openPool(url, { max: MAX_CONNECTIONS, application_name: applicationName, settings: 'set jit = off' }, log),
    ),
  )
