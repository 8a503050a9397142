import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../config/error-code.ts'
import type { ReplayState } from '../../ledger/replay/replay.ts'
import { RowFile } from '../../ledger/replay/row-file.ts'
import { balances } from '../../ledger/rules/account.ts'
import { fieldsOf } from '../../ledger/storage/copy-rows.ts'
import { CHUNK_ROWS, digestOfRows, idReader } from '../verify/compare-table.ts'
import { replayedTables } from '../verify/draws/draw-checks.ts'
import type { Finding } from '../verify/finding.ts'
import { type LinesDigest, LinesHash } from '../verify/line-digests.ts'
import type { Sealed } from './read-seals.ts'
import { decompress, snapshotFile, snapshotFolder } from './snapshot-files.ts'

/**
 * Compares what a seal says of each table with the rows that were replayed up to its position; `ofBalances` is the digest of
 * all balances, which may be kept elsewhere. One finding is enough: such a seal was not made of this ledger.
 */
export async function proveSeal(
  { position, seal_id, tables }: Sealed,
  rows: ReplayState,
  ofBalances: LinesDigest,
  onPage: () => Promise<void>,
): Promise<readonly Finding[]> {
  for (const table of replayedTables) {
    const { name } = table.projection
    if (table.source !== 'ledger') continue
    const replayed = name === balances.name ? ofBalances : await digestOfRows(rows, table, onPage)
    const sealed = tables.find((one) => one.name === name)
    if (replayed.rows === (sealed?.rows ?? 0) && (sealed === undefined || replayed.digest === sealed.digest)) continue
    const message = `${sealed?.rows ?? 0} rows of ${name} were sealed at ${position}, which are not the ${replayed.rows} that follow from the ledger`
    return [{ check: 'seal', position: seal_id, message }]
  }
  return []
}

/**
 * Compares the rows in the files of a snapshot with what its seal says of each table. The files are those of the seal: only
 * who wrote its event can have sealed others.
 */
export async function proveSnapshot(
  sealsFolder: string,
  { position, seal_id, tables, checkpoint: { hash } }: Sealed,
  onPage: () => Promise<void>,
): Promise<readonly Finding[]> {
  await using closing = new AsyncDisposableStack()
  const into = closing.adopt(await mkdtemp(join(tmpdir(), 'seal-')), (made) => rm(made, { recursive: true }))
  for (const { name, rows, digest } of tables) {
    const compressed = snapshotFile(snapshotFolder(sealsFolder, { position, hash }), name)
    const found = await digestOfFile(compressed, join(into, name), name, onPage).catch((error: unknown) => {
      if (/^(ZSTD|ERR_SQLITE)_/i.test(errorCode(error) ?? '')) return null
      throw error
    })
    if (found?.rows === rows && found.digest === digest) continue
    const message = `${compressed} does not have the ${rows} rows that were sealed at ${position}`
    return [{ check: 'seal', position: seal_id, message }]
  }
  return []
}

/** The digest of the rows that a file has under their ids. Throws where it is none that a `RowFile` saved. */
async function digestOfFile(
  compressed: string,
  path: string,
  name: string,
  onPage: () => Promise<void>,
): Promise<LinesDigest> {
  await decompress(compressed, path)
  const table = replayedTables.find(({ projection }) => projection.name === name)
  const idOf = table && idReader(table)
  const digest = new LinesHash()
  using file = new RowFile(path)
  let read = 0
  for (const [id, line] of file.rows()) {
    if (idOf?.(fieldsOf(line)) === id) digest.add(line)
    read += 1
    if (read % CHUNK_ROWS === 0) await onPage()
  }
  await rm(path)
  return digest.finish()
}
