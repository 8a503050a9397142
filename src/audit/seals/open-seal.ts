import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../config/error-code.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import { hashFile } from '../closings/files.ts'
import type { Finding, Findings } from '../verify/finding.ts'
import type { LastEvent } from '../verify/integrity-checks.ts'
import type { Sealed } from './read-seals.ts'
import { decompress, snapshotFile, snapshotFolder } from './snapshot-files.ts'

/** A seal with its snapshot, decompressed. */
export interface OpenedSeal {
  /** The event that it is of. */
  readonly last: LastEvent
  /** The files of the tables by their names. */
  readonly tables: ReadonlyMap<string, string>
}

interface Newest {
  /** Null: no snapshot can be used. */
  readonly seal: OpenedSeal | null
  /** Which newer seals have no snapshot here. */
  readonly notices: readonly string[]
}

/**
 * The first of these seals that has its snapshot here, unchanged. A changed one is a finding. The decompressed files are
 * removed by `closing`.
 */
export async function openFirstSeal(
  snapshot: Snapshot,
  sealsFolder: string,
  seals: readonly Sealed[],
  findings: Findings,
  closing: AsyncDisposableStack,
): Promise<Newest> {
  const notices: string[] = []
  for (const sealed of seals) {
    const checked = await checkSnapshot(snapshot, sealsFolder, sealed)
    if ('notice' in checked) notices.push(checked.notice)
    else if ('check' in checked) findings.add(checked)
    else return { seal: await decompressSeal(sealsFolder, sealed, checked, closing), notices }
  }
  return { seal: null, notices }
}

/** The event that was sealed, where the snapshot is there and as it was made. */
export async function checkSnapshot(
  snapshot: Snapshot,
  sealsFolder: string,
  { position, tables, checkpoint: { hash }, seal_id }: Sealed,
): Promise<LastEvent | Finding | { readonly notice: string }> {
  const findingOf = (message: string): Finding => ({ check: 'seal', position: seal_id, message })
  const last = await snapshot.headAt(position)
  if (last?.hash !== hash) return findingOf(`position ${position} was sealed with another hash, ${hash}`)
  const folder = snapshotFolder(sealsFolder, { position, hash })
  for (const { name, sha256 } of tables) {
    const file = snapshotFile(folder, name)
    const found = await hashFile(file).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return null
      throw error
    })
    if (found === null) return { notice: `the snapshot of the seal at ${position} has no file ${file}` }
    if (found !== sha256) return findingOf(`the snapshot of the seal at ${position} was changed: ${file}`)
  }
  return last
}

async function decompressSeal(
  sealsFolder: string,
  { position, tables, checkpoint: { hash } }: Sealed,
  last: LastEvent,
  closing: AsyncDisposableStack,
): Promise<OpenedSeal> {
  const folder = snapshotFolder(sealsFolder, { position, hash })
  const into = closing.adopt(await mkdtemp(join(tmpdir(), 'seal-')), (made) => rm(made, { recursive: true }))
  const files = new Map(tables.map(({ name }) => [name, join(into, name)]))
  for (const [name, file] of files) await decompress(snapshotFile(folder, name), file)
  return { last, tables: files }
}
