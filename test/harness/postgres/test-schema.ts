import { readLedgerSchema } from '../../../src/config/environment.ts'
import { ledgerUrl } from '../../../src/db/ledger-url.ts'

/** The schema of every test's ledger: that of LEDGER_SCHEMA, as for the service. */
export const testSchema = readLedgerSchema(process.env)

/** The connection string of the test's ledger in a database. */
export const inTestSchema = (url: string): string => ledgerUrl(url, testSchema)
