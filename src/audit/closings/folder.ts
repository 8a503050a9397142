import { join } from 'node:path'
import { DEFAULT_SCHEMA } from '../../config/ledger-schema.ts'

/** The folder of month closings in DATA_DIR, with a folder for each month. Ledgers in other schemas have their own. */
export const closingsFolder = (dataDir: string, schema: string): string =>
  join(dataDir, schema === DEFAULT_SCHEMA ? 'closings' : `closings-${schema}`)
