import type { Kysely } from 'kysely'
import type { Log } from '../log.ts'
import { openPool, readPool } from '../pool.ts'
import type { Tables } from '../tables.ts'
import { statementName } from './prepared-statement.ts'
import { type NameStatement, queryBuilder } from './query-builder.ts'

/** Two reports run at a time, and short reads of the ledger need a third. */
const MAX_CONNECTIONS = 3

/** Texts that each connection keeps parsed: more than all pages have, also with lists of different lengths. */
const MAX_NAMED_TEXTS = 300

/**
 * Names every text, the first ones only: pages ask the same again and again, and to parse and plan their statements took
 * PostgreSQL a fifth of its time for them.
 */
export function nameFirst(maxTexts: number): NameStatement {
  const names = new Map<string, string>()
  return (text) => {
    const known = statementName(text) ?? names.get(text)
    if (known !== undefined || names.size >= maxTexts) return known
    const name = `report ${names.size + 1}`
    names.set(text, name)
    return name
  }
}

/**
 * For reports, with PostgreSQL's own plans: the settings for reads by key would slow them down. Compiling a statement
 * takes longer than what it saves in reports that read part by part.
 */
export const openReportDatabase = (url: string, applicationName: string, log: Log): Kysely<Tables> =>
  queryBuilder(
    readPool(
      openPool(url, { max: MAX_CONNECTIONS, application_name: applicationName, settings: 'set jit = off' }, log),
    ),
    nameFirst(MAX_NAMED_TEXTS),
  )
