import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode } from './error-code.ts'

/** The modes of files and folders with data of the ledger: for its owner alone. */
export const PRIVATE_FOLDER = 0o700
export const PRIVATE_FILE = 0o600

/** Takes from all others a folder with what is in it. Does nothing where there is none. Throws Node's error on failure. */
export function makePrivate(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  if ((stats.mode & 0o077) !== 0) chmodSync(path, stats.isDirectory() ? PRIVATE_FOLDER : PRIVATE_FILE)
  if (!stats.isDirectory()) return
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    // What a link leads to is not ours.
    if (entry.isDirectory() || entry.isFile()) makePrivate(join(path, entry.name))
  }
}

/**
 * Creates a folder and its missing parents; an existing one is left as it is. Throws Node's error on failure. Node's own
 * `recursive` loops for ever where nothing can be created and the error is ENOENT, as in /proc.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (tryMakeFolder(path, mode)) return
  makeFolder(dirname(path), mode)
  // Another process may have created it in the meantime.
  if (!tryMakeFolder(path, mode)) mkdirSync(path, { mode })
}

/** False when the parent is missing. */
function tryMakeFolder(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    if (errorCode(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error
  }
  return true
}
