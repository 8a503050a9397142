import { readFileSync } from 'node:fs'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Kysely } from 'kysely'
import { SealedTable } from '../../../schema/events.ts'
import type { Tables } from '../../db/tables.ts'
import type { RecordClosing } from '../../features/closings/record-closing.ts'
import { type CheckpointSigner, findCheckpointOf } from '../checkpoint.ts'
import { sealText } from '../seals/open-seal.ts'
import { findClosingFile, hashFile, type MadeFile, readFolderId } from './files.ts'
import type { MonthBooks } from './month-books.ts'
import { VERIFICATION_FILE } from './step.ts'
import { readSteps } from './step-rows.ts'

/** A request that is refused whatever the files say: none of them is read. With `running` a step is writing them. */
export const requestWithoutFiles = ({ month, last, hash }: MonthBooks, running: boolean): RecordClosing => ({
  month,
  position: last,
  hash,
  running,
  covered: { first: 0, last: 0 },
  done: [],
  failed: [],
  findings: [],
  unchanged: false,
  files: [],
  checkpoint: null,
  sealed: null,
})

/**
 * What the steps of a month came to, with the SHA-256 of each file as it is now. Of a file in another folder of closings it is
 * the one that the step wrote it with. The verb that records the closing decides about it. The caller holds the
 * month's lock, until the verb has decided. A month that cannot be closed has no file read.
 */
export async function readClosingRequest(
  db: Kysely<Tables>,
  folder: string,
  books: MonthBooks,
  signer: CheckpointSigner,
): Promise<RecordClosing> {
  if (books.refusal !== null) return requestWithoutFiles(books, false)
  const run = (await readSteps(db, books.month)).filter((step) => step.state !== 'waiting')
  const made = run.flatMap((step) => step.files.map((file) => ({ file, step })))
  const folderId = readFolderId(folder)
  const hashes = await Promise.all(
    made.map(async ({ file, step }) => {
      const isElsewhere = step.folder_id !== folderId
      return { name: file.name, sha256: isElsewhere ? file.sha256 : await hashNow(folder, file) }
    }),
  )
  const [earliest] = run
  const covered = earliest === undefined ? { first: 0, last: 0 } : { first: earliest.first, last: earliest.last }
  const isOfOneKind = run.every(({ first, last }) => first === covered.first && last === covered.last)
  const unchanged = isOfOneKind && hashes.every(({ sha256 }, i) => sha256 === made[i]?.file.sha256)
  const isSigned = run.some(({ step, state }) => step === 'checkpoint' && state === 'done')
  const { month, last, hash } = books
  return {
    month,
    position: last,
    hash,
    running: false,
    covered,
    done: run.filter(({ state }) => state === 'done').map(({ step }) => step),
    failed: run.filter(({ state }) => state === 'failed').map(({ step }) => step),
    findings: run.flatMap(({ findings }) => findings.map(({ finding }) => finding)),
    unchanged,
    files: unchanged ? hashes : made.map(({ file: { name, sha256 } }) => ({ name, sha256 })),
    // None for another ledger with the same positions: its hash is another one.
    checkpoint: isSigned && hash !== null ? await findCheckpointOf(db, signer, { position: last, hash }) : null,
    sealed: unchanged ? readSealed(folder, books, signer) : null,
  }
}

const Verified = Type.Object({
  snapshot: Type.Object({ position: Type.Integer(), hash: Type.String(), tables: Type.Array(SealedTable) }),
  signature: Type.String(),
})

/**
 * What the step `verify` wrote of its snapshot; null where its file is elsewhere, or names none of the month's end, or
 * another one than was signed.
 */
function readSealed(folder: string, { last, hash }: MonthBooks, signer: CheckpointSigner): RecordClosing['sealed'] {
  const file = findClosingFile(folder, VERIFICATION_FILE)
  const verified: unknown = file === null ? null : JSON.parse(readFileSync(file.path, 'utf8'))
  if (!Value.Check(Verified, verified)) return null
  const { snapshot, signature } = verified
  if (snapshot.position !== last || snapshot.hash !== hash || signer.signText(sealText(snapshot)) !== signature)
    return null
  return { tables: snapshot.tables, signature }
}

/** Empty for a file that is missing. */
async function hashNow(folder: string, { name }: MadeFile): Promise<string> {
  const file = findClosingFile(folder, name)
  return file === null ? '' : hashFile(file.path)
}
