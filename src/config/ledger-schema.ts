import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

export const DEFAULT_SCHEMA = 'public'

/** LEDGER_SCHEMA: a name that is written without quotation marks, and none that PostgreSQL keeps for itself. */
export const ledgerSchema = Type.String({
  // Channels and the schema of a rebuild have longer names, of which PostgreSQL reads 63 bytes.
  pattern: '^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,39}$',
  default: DEFAULT_SCHEMA,
  description: 'must be 1 to 40 letters a-z, digits and _, the first no digit, and no name of PostgreSQL itself',
})

/** The schema of the ledger, for commands that read nothing else of the environment. Throws when it is no such name. */
export function readLedgerSchema(env: Readonly<Record<string, string | undefined>>): string {
  const schema = env['LEDGER_SCHEMA'] || DEFAULT_SCHEMA
  if (!Value.Check(ledgerSchema, schema)) throw new Error(`LEDGER_SCHEMA ${ledgerSchema.description}.`)
  return schema
}
