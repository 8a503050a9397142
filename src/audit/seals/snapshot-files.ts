import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import type { SealedTable } from '../../../schema/events.ts'
import type { ReplayState } from '../../ledger/replay/replay.ts'
import { hashFile } from '../closings/files.ts'
import { replayedTables } from '../verify/draws/draw-checks.ts'
import { digestOfLines } from '../verify/line-digests.ts'

/** The folder of the snapshot as of an event. */
export const snapshotFolder = (
  seals: string,
  { position, hash }: { readonly position: number; readonly hash: string },
) => join(seals, `${String(position).padStart(12, '0')}-${hash.slice(0, 16)}`)

/** A table's file in the folder of its snapshot: an SQLite database, compressed by zstd. */
export const snapshotFile = (folder: string, table: string): string => join(folder, `${table}.sqlite.zst`)

/** Writes all rows that follow from the ledger to a folder that appears once it is whole. */
export async function writeSnapshot(folder: string, rows: ReplayState): Promise<readonly SealedTable[]> {
  const unfinished = `${folder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true })
  const sealed: SealedTable[] = []
  for (const table of replayedTables) {
    if (table.source !== 'ledger') continue
    const { name } = table.projection
    const digest = digestOfLines(rows.lines(table))
    if (digest.rows === 0) continue
    const plain = join(unfinished, name)
    rows.save(table.projection, plain)
    sealed.push({ name, ...digest, sha256: await compress(plain, snapshotFile(unfinished, name)) })
    await rm(plain)
  }
  await rm(folder, { recursive: true, force: true })
  await rename(unfinished, folder)
  await sync(join(folder, '..'))
  return sealed
}

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
