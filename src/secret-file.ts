import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode } from './error-code.ts'

/**
 * Makes the folder for keys and the embedded database. Others may pass through it but not look into it: as root,
 * PostgreSQL runs as another user and must reach its own folder below. Every file in it is for its owner alone.
 */
export function makeDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
}

/**
 * The secret in `<dataDir>/<name>`: 32 random bytes as 64 hex digits, made on the first call. Whoever calls at the
 * same time, in whichever process, gets the same. Throws when the file holds anything else: a damaged key must not be
 * replaced in silence, because what was signed or encrypted with it hangs on it.
 */
export function secretFile(dataDir: string, name: string): string {
  const path = join(dataDir, name)
  const secret = readIfThere(path) ?? make(dataDir, path)
  if (!/^[0-9a-f]{64}$/.test(secret)) {
    throw new Error(`${path} does not hold a key (64 hex digits); bring it back from a backup`)
  }
  return secret
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Written aside and then linked: a link never replaces a file and never shows half of one. */
function make(dataDir: string, path: string): string {
  makeDataDir(dataDir)
  const aside = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(aside, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600, flush: true })
  try {
    linkSync(aside, path)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  } finally {
    rmSync(aside)
  }
  syncDirectory(dirname(path))
  return readFileSync(path, 'utf8').trim()
}

/** A new name in a directory outlives a power cut only once the directory itself is on disk. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/** Writes a file for its owner alone, whole or not at all. */
export function replaceFile(path: string, text: string): void {
  const aside = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(aside, text, { flag: 'wx', mode: 0o600, flush: true })
  renameSync(aside, path)
}
