import { randomBytes } from 'node:crypto'
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { DEFAULT_SCHEMA } from '../config/environment.ts'
import { errorCode } from '../config/error-code.ts'
import { PRIVATE_FILE } from '../config/files.ts'

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' })

/** An event that was seen on a ledger. */
export const LastSeen = Type.Object({
  /** The hash of the ledger's first event. */
  ledger: Hash,
  /** The system identifier and oid of the database that had it. */
  database: Type.String(),
  /** The ledger's incarnation then, and its beginning in microseconds. */
  incarnation: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  began_at: Type.Integer(),
  position: Type.Integer({ minimum: 1 }),
  hash: Hash,
})
export type LastSeen = Static<typeof LastSeen>

/** The file in DATA_DIR; ledgers in other schemas than the default one have files of their own. */
export const lastSeenFile = (dataDir: string, schema: string): string =>
  join(dataDir, schema === DEFAULT_SCHEMA ? 'last-seen' : `last-seen-${schema}`)

/** Something was seen, and it cannot be known what. */
export class DamagedLastSeen extends Error {}

/** What the file says; null when there is none. Throws an Error that says what to do with one that cannot be read. */
export async function readLastSeen(file: string): Promise<LastSeen | null> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (code === 'EISDIR') throw damaged(file)
    if (code !== 'EACCES') throw error
    const me = process.geteuid?.() ?? ''
    throw new Error(
      `${file} belongs to another user: run this as that user, or give it to this one: chown ${me} "${file}"`,
      { cause: error },
    )
  }
  let seen: unknown
  try {
    seen = JSON.parse(text)
  } catch {
    throw damaged(file)
  }
  if (!Value.Check(LastSeen, seen)) throw damaged(file)
  return seen
}

const damaged = (file: string): DamagedLastSeen =>
  new DamagedLastSeen(
    `${file} is damaged: if the database may have been restored, run npm run after-restore, else remove the file.`,
  )

/** Whether one was seen after another on the same ledger. */
export const isLater = (one: LastSeen, other: LastSeen): boolean =>
  one.ledger === other.ledger &&
  (one.incarnation === other.incarnation ? one.position > other.position : one.began_at > other.began_at)

/** Replaces the file, which only its owner may read: who owns the folder, where root runs a command line. */
export async function writeLastSeen(file: string, seen: LastSeen): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(temporary, `${JSON.stringify(seen)}\n`, { flag: 'wx', mode: PRIVATE_FILE, flush: true })
    if (process.getuid?.() === 0) {
      const { uid, gid } = await stat(dirname(file))
      await chown(temporary, uid, gid)
    }
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
