import { lstatSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { DEFAULT_SCHEMA } from '../../config/ledger-schema.ts'

/** The folder of month closings in DATA_DIR. Ledgers in other schemas have their own. */
export const closingsFolder = (dataDir: string, schema: string): string =>
  join(dataDir, schema === DEFAULT_SCHEMA ? 'closings' : `closings-${schema}`)

/** The folder of one month, `2026-10`, in that of all closings. */
export const monthFolder = (closings: string, month: string): string => join(closings, month)

/** Where a folder is, for people and for other instances: `host-a:/data/closings/2026-10`. */
export const locationOf = (folder: string): string => `${hostname()}:${resolve(folder)}`

/** Names that steps give to files; none of them leads out of its folder. */
export const FILE_NAME_PATTERN = '^[a-z0-9][a-z0-9-]*\\.(csv|json|jsonl|journal)$'
const fileName = new RegExp(FILE_NAME_PATTERN)

/** A file of a closing by its name; null when there is none. */
export function findClosingFile(
  folder: string,
  name: string,
): { readonly path: string; readonly bytes: number } | null {
  if (!fileName.test(name)) return null
  const path = join(folder, name)
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? { path, bytes: stats.size } : null
}
