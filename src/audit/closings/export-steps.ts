import type { Checkpoint } from '../../../schema/finance.ts'
import { micros } from '../../db/queries/expressions.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { findCheckpointOf, rememberCheckpoint } from '../checkpoint.ts'
import { CSV_HEADER, formatCsv, formatJsonLine } from '../reports/export-formats.ts'
import { readEntries } from '../reports/write-export.ts'
import {
  ENTRIES_FILE,
  EVENTS_FILE,
  HashedFile,
  MANIFEST_FILE,
  type MadeFile,
  signManifest,
  writeHashed,
} from './files.ts'
import { type StepOptions, type StepOutcome, type StepWork, tableOf } from './step.ts'

/** The month's postings and its events. */
export const exportStep: StepWork = async ({ url, first, last, folder }, _db, context) => {
  const events = await HashedFile.create(folder, EVENTS_FILE)
  const entries = await HashedFile.create(folder, ENTRIES_FILE)
  await entries.write(CSV_HEADER)
  for await (const page of readEntries(url, { first, last }, context)) {
    await Promise.all([events.write(page.map(formatJsonLine).join('')), entries.write(page.map(formatCsv).join(''))])
  }
  const files = [await entries.close(), await events.close()]
  return {
    passed: true,
    result: tableOf(`${(last - first + 1).toLocaleString('en')} events in ${files.length} files.`, [], []),
    files,
  }
}

/** Writes what says of which positions the files of an export were made, signed, next to them. */
export async function writeManifest(files: readonly MadeFile[], options: StepOptions): Promise<MadeFile> {
  const { books, folder, signer, madeBy, signal } = options
  const { month, first, last, first_at, last_at } = books
  const manifest = signManifest(
    {
      month,
      from: first,
      to: last,
      from_at: first_at,
      to_at: last_at,
      files: [...files],
      checkpoint: await monthCheckpoint(options),
      made_by: madeBy,
      made_at: new Date().toISOString(),
    },
    signer,
  )
  signal.throwIfAborted()
  return writeHashed(folder, MANIFEST_FILE, `${JSON.stringify(manifest, null, 2)}\n`)
}

/** A checkpoint of the month's last event, which the next closing begins from. */
export async function checkpointStep(options: StepOptions): Promise<StepOutcome> {
  const { folder, signal } = options
  const checkpoint = await monthCheckpoint(options)
  signal.throwIfAborted()
  const file = await writeHashed(folder, 'checkpoint.json', `${JSON.stringify(checkpoint, null, 2)}\n`)
  const { position, hash, at } = checkpoint
  return {
    passed: true,
    result: tableOf(`Signed position ${position}.`, ['position', 'hash', 'at'], [[String(position), hash, at]]),
    files: [file],
  }
}

/** The checkpoint of the month: export and checkpoint have the same one, whichever was made first, on any instance. */
async function monthCheckpoint({
  db,
  books,
  signer,
  madeBy,
}: Pick<StepOptions, 'db' | 'books' | 'signer' | 'madeBy'>): Promise<Checkpoint> {
  const { hash, signed_at } = await db
    .selectFrom('ledger')
    .select('hash')
    .select(micros('clock_timestamp()').as('signed_at'))
    .where('position', '=', books.last)
    .executeTakeFirstOrThrow()
  const made = await findCheckpointOf(db, signer, { position: books.last, hash })
  if (made !== null) return made
  const checkpoint = signer.sign({ position: books.last, hash, at: isoMicros(signed_at) })
  await rememberCheckpoint(db, checkpoint, madeBy)
  return checkpoint
}
