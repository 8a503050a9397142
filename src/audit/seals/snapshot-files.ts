import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import type { SealedTable } from '../../../schema/events.ts'
import { PRIVATE_FOLDER } from '../../config/files.ts'
import type { ReplayState } from '../../ledger/replay/replay.ts'
import { balances } from '../../ledger/rules/account.ts'
import { hashFile } from '../closings/files.ts'
import { digestOfRows } from '../verify/compare-table.ts'
import { replayedTables } from '../verify/draws/draw-checks.ts'
import type { LastEvent } from '../verify/integrity-checks.ts'
import type { LinesDigest } from '../verify/line-digests.ts'

/** The folder of the snapshot as of an event. */
export const snapshotFolder = (
  seals: string,
  { position, hash }: { readonly position: number; readonly hash: string },
) => join(seals, `${String(position).padStart(12, '0')}-${hash.slice(0, 16)}`)

/** A table's file in the folder of its snapshot: an SQLite database, compressed by zstd. */
export const snapshotFile = (folder: string, table: string): string => join(folder, `${table}.sqlite.zst`)

/** A snapshot that is written, and that nobody finds before it is kept. */
export interface WrittenSnapshot {
  /** The event that it is of. */
  readonly position: number
  readonly hash: string
  readonly tables: readonly SealedTable[]
}

/**
 * Writes all rows that follow from the ledger; `saveBalances` saves all balances, which may be kept elsewhere. Nobody else
 * writes a snapshot meanwhile, so that what is unfinished was left by a process that was killed.
 */
export async function writeSnapshot(
  seals: string,
  { position, hash }: LastEvent,
  rows: ReplayState,
  saveBalances: (path: string) => Promise<LinesDigest>,
  onPage: () => Promise<void>,
): Promise<WrittenSnapshot> {
  const snapshot = { position, hash, tables: new Array<SealedTable>() }
  const folder = unfinished(snapshotFolder(seals, snapshot))
  await mkdir(seals, { recursive: true, mode: PRIVATE_FOLDER })
  await removeUnfinished(seals)
  await mkdir(folder, { mode: PRIVATE_FOLDER })
  try {
    await writeTables(folder, snapshot.tables, rows, saveBalances, onPage)
    return snapshot
  } catch (error) {
    await dropSnapshot(seals, snapshot)
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`A snapshot cannot be written in ${seals}: ${reason}`, { cause: error })
  }
}

async function writeTables(
  folder: string,
  tables: SealedTable[],
  rows: ReplayState,
  saveBalances: (path: string) => Promise<LinesDigest>,
  onPage: () => Promise<void>,
): Promise<void> {
  for (const table of replayedTables) {
    if (table.source !== 'ledger') continue
    const { name } = table.projection
    const plain = join(folder, name)
    let digest: LinesDigest
    if (name === balances.name) digest = await saveBalances(plain)
    else {
      digest = await digestOfRows(rows, table, onPage)
      rows.save(table.projection, plain)
    }
    if (digest.rows > 0) tables.push({ name, ...digest, sha256: await compress(plain, snapshotFile(folder, name)) })
    await rm(plain)
  }
}

export async function keepSnapshot(seals: string, snapshot: WrittenSnapshot): Promise<void> {
  const folder = snapshotFolder(seals, snapshot)
  await rm(folder, { recursive: true, force: true })
  await rename(unfinished(folder), folder)
  await sync(seals)
}

export const dropSnapshot = (seals: string, snapshot: WrittenSnapshot): Promise<void> =>
  rm(unfinished(snapshotFolder(seals, snapshot)), { recursive: true, force: true })

/** Removes what was left by processes and threads that were ended; call it while nobody writes a snapshot. */
export async function removeUnfinished(seals: string): Promise<void> {
  for (const name of await readdir(seals))
    if (name.endsWith(UNFINISHED)) await rm(join(seals, name), { recursive: true, force: true })
}

const UNFINISHED = '.unfinished'

const unfinished = (folder: string): string => `${folder}${UNFINISHED}`

/** Answers the SHA-256 of the compressed file. */
async function compress(from: string, to: string): Promise<string> {
  await pipeline(createReadStream(from), createZstdCompress(), createWriteStream(to, { flush: true }))
  return hashFile(to)
}

export const decompress = (from: string, to: string): Promise<void> =>
  pipeline(createReadStream(from), createZstdDecompress(), createWriteStream(to))

/** Makes a new name in a folder last. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder)
  await handle.sync()
  await handle.close()
}
