import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
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
    throw dataDirError(dataDir, error)
  }
  assertPrivate(`DATA_DIR ${dataDir}`, dataDir, statSync(dataDir), FOLDER_RULE)
}

/**
 * The secret in `<dataDir>/<name>`: 32 random bytes as 64 hex digits, made on the first call. Whoever calls at the
 * same time, in whichever process, gets the same. Throws when the file holds anything else: a damaged key must not be
 * replaced in silence, because what was signed or encrypted with it hangs on it.
 */
export function secretFile(dataDir: string, name: string): string {
  return readSecret(dataDir, name) ?? checked(join(dataDir, name), createSecret(dataDir, join(dataDir, name)))
}

/** As `secretFile`, but makes nothing: null when there is no such file. */
export function readSecret(dataDir: string, name: string): string | null {
  const path = join(dataDir, name)
  try {
    const file = openSync(path, 'r')
    try {
      assertPrivate(`DATA_DIR ${dataDir}`, dataDir, statSync(dataDir), FOLDER_RULE)
      assertPrivate(path, path, fstatSync(file), FILE_RULE)
      return checked(path, readFileSync(file, 'utf8').trim())
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return null
    throw code === undefined ? error : dataDirError(dataDir, error)
  }
}

interface AccessRule {
  /** Permissions that nobody but the owner may have. */
  readonly forbidden: number
  /** What to give `chmod`. */
  readonly mode: string
}

const FILE_RULE: AccessRule = { forbidden: 0o077, mode: '600' }
/** Others may pass through it; see `makeDataDir`. */
const FOLDER_RULE: AccessRule = { forbidden: 0o066, mode: '711' }

/** Whoever else can write a key, or put another in its place, decides what is signed and drawn with it. */
function assertPrivate(name: string, path: string, { uid, mode }: Stats, rule: AccessRule): void {
  const me = process.geteuid?.()
  if (me !== undefined && uid !== me) {
    throw new Error(
      `${name} belongs to another user (${uid}): run this as that user, or give it to this one: chown ${me} "${path}"`,
    )
  }
  if ((mode & rule.forbidden) === 0) return
  throw new Error(`${name} is open to its group or to others: chmod ${rule.mode} "${path}"`)
}

/** What the system has against the folder, by the name of the variable that says where it is. */
export function dataDirError(dataDir: string, error: unknown): Error {
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
function createSecret(dataDir: string, path: string): string {
  makeDataDir(dataDir)
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(temporary, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600, flush: true })
  } catch (error) {
    throw dataDirError(dataDir, error)
  }
  try {
    linkSync(temporary, path)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  } finally {
    rmSync(temporary)
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
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(temporary, text, { flag: 'wx', mode: 0o600, flush: true })
  renameSync(temporary, path)
}
