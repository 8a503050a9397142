import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode } from './error-code.ts'
import { makeFolder } from './make-folder.ts'

/**
 * Makes the folder for keys and the embedded database. Others may pass through it but not look into it: as root,
 * PostgreSQL runs as another user and must reach its own folder below. Every file in it is for its owner alone.
 */
export function makeDataDir(dataDir: string): void {
  try {
    makeFolder(dataDir, 0o711)
  } catch (error) {
    throw unusable(dataDir, error)
  }
}

/**
 * The secret in `<dataDir>/<name>`: 32 random bytes as 64 hex digits, made on the first call. Whoever calls at the
 * same time, in whichever process, gets the same. Throws when the file holds anything else: a damaged key must not be
 * replaced in silence, because what was signed or encrypted with it hangs on it.
 */
export function secretFile(dataDir: string, name: string): string {
  return readSecret(dataDir, name) ?? checked(join(dataDir, name), make(dataDir, join(dataDir, name)))
}

/** As `secretFile`, but makes nothing: null when there is no such file. */
export function readSecret(dataDir: string, name: string): string | null {
  const path = join(dataDir, name)
  try {
    return checked(path, readFileSync(path, 'utf8').trim())
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return null
    throw code === undefined ? error : unusable(dataDir, error)
  }
}

/** What the system has against the folder, by the name of the variable that says where it is. */
export function unusable(dataDir: string, error: unknown): Error {
  const reasons: Readonly<Record<string, string>> = {
    EEXIST: 'it is a file',
    ENOTDIR: 'it, or something above it, is a file',
    EACCES: 'it belongs to another user; run this as the user who runs the service',
  }
  const reason = reasons[errorCode(error) ?? ''] ?? (error instanceof Error ? error.message : String(error))
  return new Error(`DATA_DIR ${dataDir} cannot be used: ${reason}`, { cause: error })
}

function checked(path: string, secret: string): string {
  if (!/^[0-9a-f]{64}$/.test(secret)) {
    throw new Error(`${path} does not hold a key (64 hex digits); bring it back from a backup`)
  }
  return secret
}

/** Written aside and then linked: a link never replaces a file and never shows half of one. */
function make(dataDir: string, path: string): string {
  makeDataDir(dataDir)
  const aside = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(aside, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600, flush: true })
  } catch (error) {
    throw unusable(dataDir, error)
  }
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
