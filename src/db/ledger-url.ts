import { escapeIdentifier } from 'pg'
import { DEFAULT_SCHEMA } from '../config/environment.ts'

/**
 * The connection string of the ledger in this schema: the database's, with the parameter `schema`, which the driver
 * ignores. So all who open a connection know the schema. Throws when the string names another schema already.
 */
export function ledgerUrl(url: string, schema: string): string {
  const named = namedSchema(url)
  if (named === schema) return url
  if (named !== undefined) {
    throw new Error(`The connection string names schema ${named}, and LEDGER_SCHEMA is ${schema}: give it only there.`)
  }
  return `${url}${url.includes('?') ? '&' : '?'}schema=${schema}`
}

/** The schema of a ledger's connection string. */
export const schemaOf = (url: string): string => namedSchema(url) ?? DEFAULT_SCHEMA

/**
 * Makes a session find the ledger's tables and no others. `pg_temp` comes last, as it would come first if it were not
 * named.
 */
export const setSearchPath = (url: string): string => `set search_path = ${escapeIdentifier(schemaOf(url))}, pg_temp`

/**
 * The name of an advisory lock of this ledger, for `hashtextextended($1, 0)`. Locks belong to a database, which may have
 * other ledgers. In the default schema it is the bare name.
 */
export const lockName = (url: string, name: string): string =>
  schemaOf(url) === DEFAULT_SCHEMA ? name : `${name} of ${schemaOf(url)}`

/** As `lockName`, the name of a channel for LISTEN and NOTIFY. */
export const channelName = (url: string, name: string): string =>
  schemaOf(url) === DEFAULT_SCHEMA ? name : `${name}_${schemaOf(url)}`

const namedSchema = (url: string): string | undefined => /[?&]schema=([^&]*)/.exec(url)?.[1]
