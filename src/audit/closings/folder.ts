import { randomUUID } from 'node:crypto'
import { lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { DEFAULT_SCHEMA } from '../../config/environment.ts'
import { errorCode } from '../../config/error-code.ts'
import { PRIVATE_FILE } from '../../config/files.ts'

/** The folder of month closings in DATA_DIR. Ledgers in other schemas have their own. */
export const closingsFolder = (dataDir: string, schema: string): string =>
  join(dataDir, schema === DEFAULT_SCHEMA ? 'closings' : `closings-${schema}`)

/** The folder of one month, `2026-10`, in that of all closings. */
export const monthFolder = (closings: string, month: string): string => join(closings, month)

/** Where a folder is, for people: `host-a:/data/closings/2026-10`. */
export const locationOf = (folder: string): string => `${hostname()}:${resolve(folder)}`

/** In the folder that holds all months, so that it stays when the folder of one is lost. */
const idFile = (month: string): string => join(dirname(month), '.id')

/**
 * The id of the folder of all closings that the folder `month` is in: the same on each host and in each container that has
 * this folder. Null before any step ran there.
 */
export function readFolderId(month: string): string | null {
  try {
    return readFileSync(idFile(month), 'utf8').trim() || null
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** The same; it is made when there is none yet. The folder of all closings exists. */
export function ensureFolderId(month: string): string {
  const known = readFolderId(month)
  if (known !== null) return known
  try {
    writeFileSync(idFile(month), `${randomUUID()}\n`, { flag: 'wx', mode: PRIVATE_FILE, flush: true })
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
  const id = readFolderId(month)
  if (id === null) throw new Error(`${idFile(month)} is empty. Delete it, and run the step again.`)
  return id
}

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
