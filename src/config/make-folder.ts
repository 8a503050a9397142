import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from './error-code.ts'

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
