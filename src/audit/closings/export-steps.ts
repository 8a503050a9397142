import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Checkpoint } from '../../../schema/finance.ts'
import { micros } from '../../db/queries/expressions.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { findCheckpointOf, rememberCheckpoint } from '../checkpoint.ts'
import { CSV_HEADER, formatCsv, formatJsonLine } from '../reports/export-formats.ts'
import { type JournalSink, readEntries, writeJournal } from '../reports/write-export.ts'
import { HashedFile, signManifest, writeHashed } from './files.ts'
import { type MadeFile, type StepOptions, type StepOutcome, type StepWork, tableOf } from './step.ts'

/** Transactions of one journal, which hledger reads in a few seconds. */
const MAX_TRANSACTIONS = 100_000

/** The month's postings, its events, and journals for hledger and ledger. */
export const exportStep: StepWork = async ({ url, month, first, last, folder }, db, context) => {
  const events = await HashedFile.create(folder, 'events.jsonl')
  const entries = await HashedFile.create(folder, 'entries.csv')
  await entries.write(CSV_HEADER)
  const lines = (page: readonly LedgerEntry[], format: (entry: LedgerEntry) => string): string =>
    page.map(format).join('')
  for await (const page of readEntries(url, { first, last }, context)) {
    await events.write(lines(page, formatJsonLine))
    await entries.write(lines(page, formatCsv))
  }
  removeJournals(folder)
  const journals = new HashedJournals(folder)
  const heading = [`closing of ${month}`, `positions ${first} to ${last}`]
  await writeJournal(url, db, heading, { first, last }, context, journals)
  const files = [await entries.close(), await events.close(), ...(await journals.close())]
  return {
    passed: true,
    result: tableOf(`${(last - first + 1).toLocaleString('en')} events in ${files.length} files.`, [], []),
    files,
  }
}

/** Journals of a former export may have other names than those of this one. */
function removeJournals(folder: string): void {
  for (const name of readdirSync(folder)) if (name.endsWith('.journal')) rmSync(join(folder, name))
}

/** Journals as files of a closing. */
class HashedJournals implements JournalSink {
  readonly maxTransactions = MAX_TRANSACTIONS
  readonly #folder: string
  readonly #made: MadeFile[] = []
  #open: HashedFile | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  readonly startFile = async (position: number): Promise<void> => {
    if (this.#open !== undefined) this.#made.push(await this.#open.close())
    this.#open = await HashedFile.create(this.#folder, `books-${String(position).padStart(12, '0')}.journal`)
  }

  readonly write = async (text: string): Promise<void> => this.#open?.write(text)

  async close(): Promise<readonly MadeFile[]> {
    if (this.#open !== undefined) this.#made.push(await this.#open.close())
    this.#open = undefined
    return this.#made
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
  return writeHashed(folder, 'manifest.json', `${JSON.stringify(manifest, null, 2)}\n`)
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
