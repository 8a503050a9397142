import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Log } from '../log.ts'
import { openPool, readPool } from '../pool.ts'
import type { Tables } from '../tables.ts'
import { statementName } from './prepared-statement.ts'
import { type NameStatement, queryBuilder } from './query-builder.ts'

/** The one database that all of a report is read from. */
export interface ReportDatabase {
  readonly db: Kysely<Tables>
  /** For readers that open connections of their own. */
  readonly url: string
}

/**
 * Chooses what a report or a page of staff is read from: the standby of DATABASE_READ_URL, if it has everything that was
 * committed before, else the primary. Rejects when the primary cannot be asked.
 */
export type ChooseReportDatabase = () => Promise<ReportDatabase>

/** Two reports run at a time, and short reads of the ledger need a third. */
const MAX_CONNECTIONS = 3

/** Texts that each connection keeps parsed: all pages together have some 150. */
const MAX_NAMED_TEXTS = 300
/** Texts that were seen once and are remembered. */
const MAX_SEEN_TEXTS = 300

/**
 * Names each text that is asked again, until there are so many: pages ask the same again and again, and to parse and plan
 * their statements took PostgreSQL a fifth of its time for them.
 */
export function nameRepeated(maxTexts: number): NameStatement {
  const names = new Map<string, string>()
  const seen = new LRUCache<string, true>({ max: MAX_SEEN_TEXTS })
  return (text) => {
    const known = statementName(text) ?? names.get(text)
    if (known !== undefined || names.size >= maxTexts) return known
    if (!seen.delete(text)) {
      seen.set(text, true)
      return undefined
    }
    const name = `report ${names.size + 1}`
    names.set(text, name)
    return name
  }
}

/**
 * For reports, with PostgreSQL's own plans: the settings for reads by key would slow them down.
 */
export const openReportDatabase = (url: string, applicationName: string, log: Log): Kysely<Tables> =>
  queryBuilder(
    readPool(openPool(url, { max: MAX_CONNECTIONS, application_name: applicationName }, log)),
    nameRepeated(MAX_NAMED_TEXTS),
  )
