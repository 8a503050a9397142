import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from './error-code.ts'

/**
 * Makes a folder, and those above it that are missing; one that is there stays as it is. Throws Node's error when that
 * cannot be. Node's own `recursive` goes on for ever where nothing can be made and that is told as ENOENT, as in /proc.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (tryMakeFolder(path, mode)) return
  makeFolder(dirname(path), mode)
  // Somebody else may have made it meanwhile.
  if (!tryMakeFolder(path, mode)) mkdirSync(path, { mode })
}

/** False when the folder above is missing. */
function tryMakeFolder(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    if (errorCode(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error
  }
  return true
}
