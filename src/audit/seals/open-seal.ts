import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../config/error-code.ts'
import { isSignatureOf, keptPublicKey } from '../checkpoint.ts'
import { hashFile } from '../closings/files.ts'
import type { Finding } from '../verify/finding.ts'
import type { LastEvent } from '../verify/integrity-checks.ts'
import { entryAt, type Query, type Sealed } from './read-seals.ts'
import { decompress, snapshotFile, snapshotFolder, type WrittenSnapshot } from './snapshot-files.ts'

/** A seal with its snapshot, decompressed. */
export interface OpenedSeal {
  /** The event that it is of. */
  readonly last: LastEvent
  /** The files of the tables by their names. */
  readonly tables: ReadonlyMap<string, string>
}

/** Why snapshots cannot be used. */
export interface UnusableSeals {
  /** In sentences: those that are not here, or cannot be read. */
  readonly notices: string[]
  /** Those that were changed. */
  readonly findings: Finding[]
}

/**
 * The first of these seals whose snapshot is here and unchanged, and why those before it are not used. `closing` removes the
 * decompressed files. With `only`, that table alone is looked at.
 */
export async function openFirstSeal(
  query: Query,
  sealsFolder: string,
  seals: readonly Sealed[],
  closing: AsyncDisposableStack,
  only?: string,
): Promise<UnusableSeals & { readonly seal: OpenedSeal | null }> {
  const unusable: UnusableSeals = { notices: [], findings: [] }
  for (const sealed of seals) {
    const last = await checkSnapshot(query, sealsFolder, sealed, only, unusable)
    if (last === undefined) continue
    const tables = tablesOf(sealed, only)
    return { seal: await decompressSeal(sealsFolder, { ...sealed, tables }, last, closing), ...unusable }
  }
  return { seal: null, ...unusable }
}

const tablesOf = ({ tables }: Sealed, only: string | undefined): Sealed['tables'] =>
  tables.filter(({ name }) => only === undefined || name === only)

/** The text of a seal that is signed, so that nobody else can seal other rows than those that follow from the ledger. */
export const sealText = ({ position, hash, tables }: WrittenSnapshot): string =>
  `ledger seal\nposition ${position}\nhash ${hash}\n${tables.map(({ name, rows, digest, sha256 }) => `${name} ${rows} ${digest} ${sha256}\n`).join('')}`

/** Whether the service signed it; where none has started yet, whether anybody did. */
async function isSigned(query: Query, { position, tables, checkpoint, signature }: Sealed): Promise<boolean> {
  const { hash, public_key } = checkpoint
  const publicKey = (await keptPublicKey(query)) ?? public_key
  return isSignatureOf(sealText({ position, hash, tables }), signature, publicKey)
}

/** The event that was sealed; undefined, with the reason in `unusable`, where the snapshot is missing or was changed. */
export async function checkSnapshot(
  query: Query,
  sealsFolder: string,
  sealed: Sealed,
  only: string | undefined,
  { notices, findings }: UnusableSeals,
): Promise<LastEvent | undefined> {
  const {
    position,
    checkpoint: { hash },
    seal_id,
  } = sealed
  const last = await entryAt(query, position)
  const folder = snapshotFolder(sealsFolder, { position, hash })
  let fault = last?.hash === hash ? undefined : `position ${position} was sealed with another hash, ${hash}`
  if (!(await isSigned(query, sealed))) fault = `the seal at ${position} was not signed by the service`
  for (const { name, sha256 } of tablesOf(sealed, only)) {
    if (fault !== undefined) break
    const file = snapshotFile(folder, name)
    try {
      // A folder has no hash, and a pipe would be waited for.
      const isFile = (await stat(file)).isFile()
      if (!isFile || (await hashFile(file)) !== sha256)
        fault = `the snapshot of the seal at ${position} was changed: ${file}`
    } catch (error) {
      const code = errorCode(error)
      if (code === undefined) throw error
      const isMissing = code === 'ENOENT' || code === 'ENOTDIR'
      const reason = isMissing ? `has no file ${file}` : `cannot be read (${code}): ${file}`
      notices.push(`the snapshot of the seal at ${position} ${reason}`)
      return undefined
    }
  }
  if (fault === undefined) return last
  findings.push({ check: 'seal', position: seal_id, message: fault })
  return undefined
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
